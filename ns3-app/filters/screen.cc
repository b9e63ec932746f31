#include "screen.h"

#include <algorithm>
#include <cmath>

namespace pysim
{

namespace
{

/// Visit the leaves that whatever matches must fulfil, as far as they come first.
template <class Visit>
void
ForEachRequired(const Subscription* subscription, Visit visit)
{
    for (uint32_t place = 0; place < Leaf::REJECT;)
    {
        const Leaf* leaf = &subscription->leaves[place];
        const Leaf* last = leaf + leaf->IsRange();
        if (leaf->onFalse == Leaf::REJECT)
        {
            visit(leaf);
            place = last->onTrue;
        }
        else if (last->onTrue == Leaf::REJECT)
        {
            place = leaf->onFalse;
        }
        else
        {
            return;
        }
    }
}

bool
IsComparison(Operator op)
{
    return (op >= Operator::LT && op <= Operator::GE) || op == Operator::FROM ||
           op == Operator::ABOVE;
}

bool
IsDoor(const Leaf* leaf)
{
    return leaf->leads && leaf->op == Operator::EQ;
}

/// The numbers next to the ends of what a leaf asks for: no number beyond these fulfils it.
std::pair<double, double>
EndsOf(const Leaf* leaf)
{
    if (!leaf->value.IsNumber())
    {
        return {-HUGE_VAL, HUGE_VAL};
    }
    switch (leaf->op)
    {
    case Operator::EQ:
        return {leaf->value.Near(), leaf->value.Near()};
    case Operator::LT:
    case Operator::LE:
        return {-HUGE_VAL, leaf->value.Near()};
    case Operator::GT:
    case Operator::GE:
        return {leaf->value.Near(), HUGE_VAL};
    case Operator::FROM:
    case Operator::ABOVE:
        return {leaf->value.Near(), leaf[1].value.Near()};
    default:
        return {-HUGE_VAL, HUGE_VAL};
    }
}

} // namespace

uint32_t
Screen::HomeOf(const Subscription* subscription)
{
    uint32_t home = Attributes::NONE;
    if (!subscription->isDecided)
    {
        ForEachRequired(subscription, [&](const Leaf* leaf) {
            if (leaf->leads && IsComparison(leaf->op) && leaf->value.IsNumber())
            {
                home = leaf->attribute;
            }
        });
    }
    return home;
}

const Leaf*
Screen::DoorOf(const Subscription* subscription)
{
    const Leaf* door = nullptr;
    bool isNarrowed = false;
    if (!subscription->isDecided)
    {
        ForEachRequired(subscription, [&](const Leaf* leaf) {
            if (IsDoor(leaf))
            {
                door = leaf;
            }
            else if (leaf->value.IsNumber())
            {
                isNarrowed |= leaf->op == Operator::EQ || IsComparison(leaf->op);
            }
        });
    }
    return isNarrowed ? door : nullptr;
}

void
Screen::Add(Subscription* subscription)
{
    m_subscriptions.push_back(subscription);
    subscription->place = static_cast<uint32_t>(m_subscriptions.size() - 1);
    try
    {
        if (m_subscriptions.size() > m_places || m_added == m_places)
        {
            Divide();
        }
        else
        {
            m_added++;
            Mark(subscription, true);
        }
    }
    catch (...)
    {
        m_subscriptions.pop_back();
        throw;
    }
}

void
Screen::Remove(Subscription* subscription)
{
    // The last one moves into its place.
    Subscription* last = m_subscriptions.back();
    Mark(subscription, false);
    if (last != subscription)
    {
        Mark(last, false);
        last->place = subscription->place;
        m_subscriptions[last->place] = last;
        Mark(last, true);
    }
    m_subscriptions.pop_back();
    if (m_places > LEAST && m_subscriptions.size() < m_places / 8)
    {
        Divide();
    }
}

void
Screen::Collect(const Attributes& attributes, uint64_t match, Reached& reached) const
{
    const uint64_t* rows[MOST];
    for (size_t place = 0; place < m_columns.size(); place++)
    {
        const Column& column = m_columns[place];
        rows[place] =
            &column.words[column.RowOf(attributes[column.attribute], match) * size_t(m_words)];
    }
    const auto used = static_cast<uint32_t>((m_subscriptions.size() + WORD - 1) / WORD);
    for (uint32_t first = 0; first < used; first += SECTION)
    {
        CollectSection(rows, m_columns.size(), first, reached);
    }
}

void
Screen::CollectSection(const uint64_t* const* rows,
                       size_t count,
                       uint32_t first,
                       Reached& reached) const
{
    uint64_t ruledOut[SECTION] = {};
    if (m_words >= SECTION)
    {
        for (size_t row = 0; row < count; row++)
        {
            const uint64_t* words = rows[row] + first;
            for (uint32_t word = 0; word < SECTION; word++)
            {
                ruledOut[word] |= words[word];
            }
        }
    }
    else
    {
        for (size_t row = 0; row < count; row++)
        {
            for (uint32_t word = 0; word < m_words; word++)
            {
                ruledOut[word] |= rows[row][word];
            }
        }
    }
    const size_t size = m_subscriptions.size();
    for (uint32_t word = 0; word < SECTION; word++)
    {
        const size_t start = (size_t(first) + word) * WORD;
        if (start >= size)
        {
            return;
        }
        uint64_t left = ~ruledOut[word];
        if (size - start < WORD)
        {
            left &= (uint64_t(1) << (size - start)) - 1;
        }
        for (; left; left &= left - 1)
        {
            reached.Push(Item::Of(m_subscriptions[start + __builtin_ctzll(left)]));
        }
    }
}

uint32_t
Screen::Column::IntervalOf(double number) const
{
    return static_cast<uint32_t>(std::upper_bound(starts, starts + INTERVALS - 1, number) - starts);
}

uint32_t
Screen::Column::RowOf(const Attribute& known, uint64_t match) const
{
    if (known.match != match)
    {
        return MISSING;
    }
    return known.value.IsNumber() ? IntervalOf(known.value.Near()) : TEXT;
}

void
Screen::Divide()
{
    // Until all is done there are too few bits, if memory ends: more is evaluated, nothing is lost.
    m_columns = Vector<Column>();
    m_added = 0;
    m_places = 0;
    uint32_t places = LEAST;
    while (places < m_subscriptions.size())
    {
        places *= 2;
    }
    m_words = std::max(places / WORD, 1u);
    Vector<Sample> samples = DrawSamples();
    for (size_t place = 0; place < std::min<size_t>(samples.size(), MOST); place++)
    {
        AddColumn(samples[place]);
    }
    for (const Subscription* subscription : m_subscriptions)
    {
        Mark(subscription, true);
    }
    m_places = places;
}

Vector<Screen::Sample>
Screen::DrawSamples() const
{
    Vector<Sample> samples;
    const size_t step = m_subscriptions.size() / DRAWN + 1;
    for (size_t place = 0; place < m_subscriptions.size(); place += step)
    {
        ForEachRequired(m_subscriptions[place], [&](const Leaf* leaf) {
            if (IsDoor(leaf))
            {
                return; // whoever comes to this screen fulfils it
            }
            auto sample = std::find_if(samples.begin(), samples.end(), [&](const Sample& other) {
                return other.attribute == leaf->attribute;
            });
            if (sample == samples.end())
            {
                samples.push_back({leaf->attribute, {}});
                sample = samples.end() - 1;
            }
            const auto [low, high] = EndsOf(leaf);
            sample->ends.push_back(low);
            sample->ends.push_back(high);
        });
    }
    std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) {
        return a.ends.size() > b.ends.size();
    });
    return samples;
}

void
Screen::AddColumn(Sample& sample)
{
    auto& ends = sample.ends;
    ends.erase(std::remove_if(ends.begin(), ends.end(), [](double end) { return std::isinf(end); }),
               ends.end());
    std::sort(ends.begin(), ends.end());
    Column column;
    column.attribute = sample.attribute;
    for (uint32_t start = 0; start < INTERVALS - 1; start++)
    {
        column.starts[start] =
            ends.empty() ? HUGE_VAL : ends[(start + 1) * ends.size() / INTERVALS];
    }
    column.words.resize(size_t(ROWS) * m_words);
    m_columns.push_back(std::move(column));
}

void
Screen::Mark(const Subscription* subscription, bool isSet)
{
    ForEachRequired(subscription, [&](const Leaf* leaf) {
        for (Column& column : m_columns)
        {
            if (column.attribute == leaf->attribute)
            {
                MarkLeaf(column, leaf, subscription->place, isSet);
            }
        }
    });
}

void
Screen::MarkLeaf(Column& column, const Leaf* leaf, uint32_t place, bool isSet) const
{
    const uint64_t bit = uint64_t(1) << (place % WORD);
    uint64_t* word = &column.words[place / WORD];
    const auto mark = [&](uint32_t row) {
        uint64_t& marked = word[row * size_t(m_words)];
        marked = isSet ? marked | bit : marked & ~bit;
    };
    const auto [low, high] = EndsOf(leaf);
    const uint32_t first = column.IntervalOf(low);
    const uint32_t last = column.IntervalOf(high);
    for (uint32_t row = 0; row < INTERVALS; row++)
    {
        if (row < first || row > last || leaf->value.IsText())
        {
            mark(row);
        }
    }
    if (leaf->value.IsNumber())
    {
        mark(TEXT);
    }
    mark(MISSING);
}

} // namespace pysim
