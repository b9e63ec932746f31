#include "matcher.h"

#include "draft.h"

#include <algorithm>

namespace pysim
{

namespace
{

Subscription*
SubscriptionAt(uintptr_t word)
{
    return reinterpret_cast<Subscription*>(word);
}

/// Ask for the first leaves of a subscription, which are in no cache where there are many.
void
Prefetch(const void* subscription)
{
    __builtin_prefetch(subscription);
    __builtin_prefetch(static_cast<const char*>(subscription) + 64);
}

} // namespace

bool
Matcher::Insert(PyObject* key, PyObject* leaves, bool isDecided)
{
    Draft draft(m_attributes);
    if (!draft.Read(leaves))
    {
        return false;
    }
    Subscription* subscription = draft.Get();
    subscription->isDecided = isDecided;
    subscription->output = OutputOf(key);
    if (!subscription->output || !m_keys.Add(key, reinterpret_cast<uintptr_t>(subscription)))
    {
        return false;
    }
    try
    {
        Attach(subscription);
    }
    catch (...)
    {
        m_keys.Discard(key);
        throw;
    }
    draft.Release();
    return true;
}

bool
Matcher::Remove(PyObject* key)
{
    Subscription* subscription = SubscriptionAt(m_keys.Take(key));
    if (!subscription)
    {
        return false;
    }
    Detach(subscription);
    Draft::Drop(m_attributes, subscription);
    return true;
}

PyObject*
Matcher::Match(PyObject* event)
{
    const Ref plain = PlainEvent(event);
    if (!plain)
    {
        return nullptr;
    }
    Reached reached;
    Collect(plain.Get(), reached);
    if (m_evaluated)
    {
        m_screens.Collect(m_match, reached);
        Reached matched;
        EvaluateAll(reached, matched);
        return PyErr_Occurred() ? nullptr : SetOf(matched);
    }
    return PyErr_Occurred() ? nullptr : SetOf(reached);
}

int
Matcher::Traverse(visitproc visit, void* arg) const
{
    Py_VISIT(m_keys.Dict());
    int result = 0;
    Keys::ForEachWord(m_keys.Dict(), [&](uintptr_t word) {
        PyObject* output = Item::Object(SubscriptionAt(word)->output);
        result = result ? result : visit(output, arg);
    });
    return result;
}

void
Matcher::Clear()
{
    const Ref keys = m_keys.Release(); // goes last, and the keys with it
    Keys::ForEachWord(keys.Get(),
                      [this](uintptr_t word) { Draft::Drop(m_attributes, SubscriptionAt(word)); });
    m_attributes.Clear();
    m_screens.Clear();
    m_always = Vector<const Subscription*>();
    m_evaluated = 0;
}

void
Matcher::Attach(Subscription* subscription)
{
    if (!m_screens.Add(subscription))
    {
        AddTriggers(subscription);
    }
    m_evaluated += !subscription->isDecided;
}

void
Matcher::Detach(Subscription* subscription)
{
    m_evaluated -= !subscription->isDecided;
    if (m_screens.Remove(subscription) || RemoveTriggers(subscription, subscription->count))
    {
        return;
    }
    *std::find(m_always.rbegin(), m_always.rend(), subscription) = m_always.back();
    m_always.pop_back();
    if (m_always.empty())
    {
        m_always = Vector<const Subscription*>();
    }
}

void
Matcher::AddTriggers(const Subscription* subscription)
{
    bool isTriggered = false;
    uint32_t place = 0;
    try
    {
        for (; place < subscription->count; place++)
        {
            const Leaf* leaf = &subscription->leaves[place];
            if (leaf->leads)
            {
                isTriggered = true;
                m_attributes[leaf->attribute].Add(Condition(leaf), Item::Of(subscription));
            }
        }
        if (!isTriggered)
        {
            m_always.push_back(subscription);
        }
    }
    catch (...)
    {
        RemoveTriggers(subscription, std::min<uint32_t>(place + 1, subscription->count));
        throw;
    }
}

bool
Matcher::RemoveTriggers(const Subscription* subscription, uint32_t count)
{
    bool isTriggered = false;
    for (uint32_t place = 0; place < count; place++)
    {
        const Leaf* leaf = &subscription->leaves[place];
        if (leaf->leads)
        {
            isTriggered = true;
            m_attributes[leaf->attribute].Remove(Condition(leaf), Item::Of(subscription));
        }
    }
    return isTriggered;
}

void
Matcher::Collect(PyObject* event, Reached& reached)
{
    m_match++;
    m_attributes.ForEachIn(event, [&](Attribute& attribute, const Value& value) {
        if (m_evaluated)
        {
            attribute.match = m_match;
            attribute.value = value;
        }
        attribute.Collect(value, m_match, reached);
    });
}

void
Matcher::EvaluateAll(Reached& reached, Reached& matched) const
{
    constexpr size_t AHEAD = 8;
    for (size_t place = 0; place < reached.Size(); place++)
    {
        if (place + AHEAD < reached.Size())
        {
            Prefetch(Item::Object(reached[place + AHEAD]));
        }
        const uintptr_t item = reached[place];
        if (item & Item::DECIDED)
        {
            matched.Push(item);
            continue;
        }
        if (item & Item::SCREEN)
        {
            const auto screen = reinterpret_cast<const Screen*>(item & ~Item::FLAGS);
            screen->Collect(m_attributes, m_match, reached);
            continue;
        }
        const auto subscription = reinterpret_cast<const Subscription*>(item);
        if (Evaluate(subscription))
        {
            matched.Push(subscription->output);
        }
    }
    for (size_t place = 0; place < m_always.size(); place++)
    {
        if (place + AHEAD < m_always.size())
        {
            Prefetch(m_always[place + AHEAD]);
        }
        if (Evaluate(m_always[place]))
        {
            matched.Push(m_always[place]->output);
        }
    }
}

bool
Matcher::Evaluate(const Subscription* subscription) const
{
    uint32_t place = 0;
    do
    {
        const Leaf& leaf = subscription->leaves[place];
        place = Test(leaf) ? leaf.onTrue : leaf.onFalse;
    } while (place < Leaf::REJECT);
    return place == Leaf::ACCEPT;
}

bool
Matcher::Test(const Leaf& leaf) const
{
    const Attribute& attribute = m_attributes[leaf.attribute];
    if (attribute.match != m_match)
    {
        return false;
    }
    const Value& value = attribute.value;
    if (leaf.op == Operator::EXISTS)
    {
        return true;
    }
    if (value.IsText() != leaf.value.IsText())
    {
        return false;
    }
    switch (leaf.op)
    {
    case Operator::EQ:
        return value == leaf.value;
    case Operator::NE:
        return !(value == leaf.value);
    case Operator::LT:
        return value.Compare(leaf.value) < 0;
    case Operator::LE:
        return value.Compare(leaf.value) <= 0;
    case Operator::GT:
    case Operator::ABOVE:
        return value.Compare(leaf.value) > 0;
    case Operator::GE:
    case Operator::FROM:
        return value.Compare(leaf.value) >= 0;
    default:
        return HasPattern(leaf.op, value.Text(), leaf.value.Text());
    }
}

} // namespace pysim
