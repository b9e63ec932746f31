#include "two-step.h"

#include "draft.h"

#include <algorithm>

namespace pysim
{

namespace
{

constexpr size_t AHEAD = 8; ///< how far to ask for what is in no cache
constexpr uint32_t BITS = 64;

/// A predicate's number as what hangs in an index.
uintptr_t
ItemOf(uint32_t predicate)
{
    return (static_cast<uintptr_t>(predicate) + 1) * (Item::FLAGS + 1);
}

uint32_t
PredicateOf(uintptr_t item)
{
    return static_cast<uint32_t>(item / (Item::FLAGS + 1) - 1);
}

/// A subscription's number as the word of its key.
uintptr_t
WordOf(uint32_t number)
{
    return static_cast<uintptr_t>(number) + 1;
}

uint32_t
NumberOf(uintptr_t word)
{
    return static_cast<uint32_t>(word - 1);
}

/// Whether a leaf is no predicate of its own but the high end of the one before.
bool
IsHighEnd(const Subscription* subscription, uint32_t place)
{
    return place > 0 && subscription->leaves[place - 1].IsRange();
}

} // namespace

bool
TwoStep::Insert(PyObject* key, PyObject* leaves, uint32_t minimum)
{
    Draft draft(m_attributes);
    if (!draft.Read(leaves))
    {
        return false;
    }
    Subscription* subscription = draft.Get();
    subscription->output = OutputOf(key);
    if (!subscription->output)
    {
        return false;
    }
    const uint32_t number = AcquireNumber();
    if (!m_keys.Add(key, WordOf(number)))
    {
        ReleaseNumber(number);
        return false;
    }
    try
    {
        m_trees[number] = NewTree(subscription);
        m_trees[number]->output = std::exchange(subscription->output, 0);
        Associate(m_trees[number], number, minimum);
    }
    catch (...)
    {
        m_keys.Discard(key);
        Uproot(number);
        throw;
    }
    return true;
}

bool
TwoStep::Replace(PyObject* key, PyObject* leaves, uint32_t minimum)
{
    Draft draft(m_attributes);
    const uintptr_t word = draft.Read(leaves) ? m_keys.Find(key) : 0;
    if (!word)
    {
        return false;
    }
    const uint32_t number = NumberOf(word);
    Tree* tree = NewTree(draft.Get());
    Dissociate(m_trees[number], number);
    std::swap(m_trees[number], tree);
    std::swap(m_trees[number]->output, tree->output);
    Free(tree);
    try
    {
        Associate(m_trees[number], number, minimum);
    }
    catch (...)
    {
        m_keys.Discard(key);
        Uproot(number);
        throw;
    }
    return true;
}

bool
TwoStep::Remove(PyObject* key)
{
    const uintptr_t word = m_keys.Take(key);
    if (word)
    {
        Uproot(NumberOf(word));
    }
    return word;
}

PyObject*
TwoStep::Match(PyObject* event)
{
    const Ref plain = PlainEvent(event);
    if (!plain)
    {
        return nullptr;
    }
    FindFulfilled(plain.Get());
    if (PyErr_Occurred())
    {
        return nullptr;
    }
    FindCandidates();
    Reached matched;
    for (size_t place = 0; place < m_found.size(); place++)
    {
        if (place + AHEAD < m_found.size())
        {
            __builtin_prefetch(m_trees[m_found[place + AHEAD]]);
        }
        const Tree* tree = m_trees[m_found[place]];
        if (Evaluate(tree))
        {
            matched.Push(tree->output);
        }
    }
    return SetOf(matched);
}

PyObject*
TwoStep::Selectivity(PyObject* leaves)
{
    Draft draft(m_attributes);
    if (!draft.Read(leaves))
    {
        return nullptr;
    }
    uint64_t fulfilled = 0;
    uint64_t events = 0;
    const Leaf* leaf = draft.Get()->leaves;
    const Posting* known = m_attributes[leaf->attribute].Find(Condition(leaf));
    if (known && !known->IsEmpty())
    {
        const uint32_t predicate = PredicateOf(known->Only());
        fulfilled = m_predicates[predicate].fulfilled;
        events = m_events - m_origins[predicate].since;
    }
    return Py_BuildValue(
        "KK", static_cast<unsigned long long>(fulfilled), static_cast<unsigned long long>(events));
}

int
TwoStep::Traverse(visitproc visit, void* arg) const
{
    Py_VISIT(m_keys.Dict());
    for (const Tree* tree : m_trees)
    {
        if (tree)
        {
            Py_VISIT(Item::Object(tree->output));
        }
    }
    return 0;
}

void
TwoStep::Clear()
{
    const Ref keys = m_keys.Release(); // goes last, and the keys with it
    Keys::ForEachWord(keys.Get(), [this](uintptr_t word) { Uproot(NumberOf(word)); });
}

uint64_t
TwoStep::Bytes() const
{
    uint64_t bytes =
        sizeof(*this) + m_attributes.Bytes() + m_predicates.capacity() * sizeof(Predicate) +
        m_origins.capacity() * sizeof(Origin) + m_holds.capacity() * sizeof(uint64_t) +
        m_minimum.capacity() + m_missing.capacity() + m_trees.capacity() * sizeof(Tree*) +
        (m_freeNumbers.capacity() + m_always.capacity() + m_found.capacity()) * sizeof(uint32_t) +
        m_fulfilled.Capacity() * sizeof(uintptr_t);
    for (const Predicate& predicate : m_predicates)
    {
        bytes += predicate.subscriptions.Bytes();
    }
    for (const Tree* tree : m_trees)
    {
        bytes += tree ? BytesOf(tree->count) : 0;
    }
    return bytes;
}

void
TwoStep::FindFulfilled(PyObject* event)
{
    m_events++;
    m_fulfilled.Clear();
    m_attributes.ForEachIn(event, [this](Attribute& attribute, const Value& value) {
        attribute.Collect(value, m_events, m_fulfilled);
    });
}

void
TwoStep::FindCandidates()
{
    m_found.assign(m_always.begin(), m_always.end());
    std::copy(m_minimum.begin(), m_minimum.end(), m_missing.begin());
    m_holds.assign((m_predicates.size() + BITS - 1) / BITS, 0);
    uint8_t* missing = m_missing.data();
    const size_t count = m_fulfilled.Size();
    for (size_t place = 0; place < count; place++)
    {
        // First the entry of the table, then what it leads to.
        if (place + 2 * AHEAD < count)
        {
            __builtin_prefetch(&m_predicates[PredicateOf(m_fulfilled[place + 2 * AHEAD])]);
        }
        if (place + AHEAD < count)
        {
            m_predicates[PredicateOf(m_fulfilled[place + AHEAD])].subscriptions.Prefetch();
        }
        const uint32_t number = PredicateOf(m_fulfilled[place]);
        m_holds[number / BITS] |= uint64_t(1) << (number % BITS);
        Predicate& predicate = m_predicates[number];
        predicate.fulfilled++;
        for (const uint32_t subscription : predicate.subscriptions)
        {
            if (--missing[subscription] == 0)
            {
                m_found.push_back(subscription);
            }
        }
    }
    m_candidates += m_found.size();
}

bool
TwoStep::Evaluate(const Tree* tree) const
{
    uint32_t place = 0;
    do
    {
        const Node& node = tree->nodes[place];
        const bool holds = m_holds[node.predicate / BITS] >> (node.predicate % BITS) & 1;
        place = holds ? node.onTrue : node.onFalse;
    } while (place < Leaf::REJECT);
    return place == Leaf::ACCEPT;
}

TwoStep::Tree*
TwoStep::NewTree(const Subscription* subscription)
{
    uint32_t count = 0;
    for (uint32_t place = 0; place < subscription->count; place++)
    {
        count += !IsHighEnd(subscription, place);
    }
    Tree* tree = static_cast<Tree*>(Allocate(BytesOf(count)));
    tree->output = 0;
    tree->count = 0;
    tree->distinct = 0;
    try
    {
        AddNodes(tree, subscription);
    }
    catch (...)
    {
        Free(tree);
        throw;
    }
    return tree;
}

void
TwoStep::AddNodes(Tree* tree, const Subscription* subscription)
{
    // A range is one node, so that all that follows moves up by one.
    Sequence<uint32_t, 64> nodes;
    uint32_t count = 0;
    for (uint32_t place = 0; place < subscription->count; place++)
    {
        nodes.Push(count);
        count += !IsHighEnd(subscription, place + 1);
    }
    const auto target = [&](uint32_t place) {
        return place < Leaf::REJECT ? nodes[place] : place;
    };
    for (uint32_t place = 0; place < subscription->count; place++)
    {
        if (IsHighEnd(subscription, place))
        {
            continue;
        }
        const Leaf* leaf = &subscription->leaves[place];
        Node& node = tree->nodes[tree->count];
        node.predicate = AcquirePredicate(leaf);
        node.onTrue = target(leaf[leaf->IsRange()].onTrue);
        node.onFalse = target(leaf->onFalse);
        bool isNew = true;
        bool isCounted = false;
        for (const Node* other = tree->nodes; other != &node; other++)
        {
            isNew = isNew && other->predicate != node.predicate;
            isCounted =
                isCounted || (other->predicate == node.predicate && other->place == COUNTED);
        }
        node.place = leaf->leads && !isCounted ? COUNTED : NONE;
        tree->distinct += isNew;
        tree->count++;
    }
}

void
TwoStep::Free(Tree* tree)
{
    for (uint32_t place = 0; place < tree->count; place++)
    {
        ReleasePredicate(tree->nodes[place].predicate);
    }
    PyMem_Free(tree);
}

void
TwoStep::Uproot(uint32_t number)
{
    Tree* tree = std::exchange(m_trees[number], nullptr);
    Ref output; // goes last: it may run code of Python's
    if (tree)
    {
        output = Ref(Item::Object(tree->output));
        Dissociate(tree, number);
        Free(tree);
    }
    ReleaseNumber(number);
}

void
TwoStep::Associate(Tree* tree, uint32_t number, uint32_t minimum)
{
    m_associations += tree->distinct;
    const auto isCounted = [](const Node& node) {
        return node.place == COUNTED;
    };
    Node* end = tree->nodes + tree->count;
    if (!minimum || std::count_if(tree->nodes, end, isCounted) > MOST)
    {
        std::for_each(tree->nodes, end, [](Node& node) { node.place = NONE; });
        m_always.push_back(number);
        return;
    }
    m_minimum[number] = static_cast<uint8_t>(std::min(minimum, MOST));
    for (Node* node = tree->nodes; node != end; node++)
    {
        if (isCounted(*node))
        {
            Numbers& subscriptions = m_predicates[node->predicate].subscriptions;
            subscriptions.Push(number);
            node->place = subscriptions.Size() - 1;
        }
    }
}

void
TwoStep::Dissociate(Tree* tree, uint32_t number)
{
    m_associations -= tree->distinct;
    if (!m_minimum[number])
    {
        const auto place = std::find(m_always.rbegin(), m_always.rend(), number);
        if (place != m_always.rend())
        {
            *place = m_always.back();
            m_always.pop_back();
        }
    }
    m_minimum[number] = 0;
    for (uint32_t place = 0; place < tree->count; place++)
    {
        const Node& node = tree->nodes[place];
        if (node.place < COUNTED)
        {
            Forget(node);
        }
    }
}

void
TwoStep::Forget(const Node& node)
{
    Numbers& subscriptions = m_predicates[node.predicate].subscriptions;
    const uint32_t moved = subscriptions.Remove(node.place);
    const uint32_t oldPlace = subscriptions.Size();
    if (node.place == oldPlace)
    {
        return;
    }
    Node* other = m_trees[moved]->nodes;
    while (other->predicate != node.predicate || other->place != oldPlace)
    {
        other++;
    }
    other->place = node.place;
}

uint32_t
TwoStep::AcquireNumber()
{
    if (!m_freeNumbers.empty())
    {
        const uint32_t number = m_freeNumbers.back();
        m_freeNumbers.pop_back();
        return number;
    }
    const size_t number = m_trees.size();
    m_missing.resize(number + 1); // first: each event copies all minimums to it
    m_minimum.resize(number + 1);
    m_trees.push_back(nullptr);
    return static_cast<uint32_t>(number);
}

void
TwoStep::ReleaseNumber(uint32_t number)
{
    try
    {
        m_freeNumbers.push_back(number);
    }
    catch (const std::bad_alloc&)
    {
        return; // what is destroyed must not throw: the number is not used again
    }
    if (m_freeNumbers.size() == m_trees.size())
    {
        m_trees = Vector<Tree*>();
        m_minimum = Vector<uint8_t>();
        m_missing = Vector<uint8_t>();
        m_freeNumbers = Vector<uint32_t>();
        m_always = Vector<uint32_t>();
        m_found = Vector<uint32_t>();
    }
}

uint32_t
TwoStep::AcquirePredicate(const Leaf* leaf)
{
    const Condition condition(leaf);
    Attribute& attribute = m_attributes[leaf->attribute];
    const Posting* known = attribute.Find(condition);
    if (known && !known->IsEmpty())
    {
        const uint32_t predicate = PredicateOf(known->Only());
        m_origins[predicate].users++;
        return predicate;
    }
    if (m_freePredicate == NONE)
    {
        m_predicates.resize(m_origins.size() + 1);
        m_origins.emplace_back(leaf, m_events, NONE);
        m_freePredicate = static_cast<uint32_t>(m_origins.size() - 1);
    }
    const uint32_t predicate = m_freePredicate;
    try
    {
        attribute.Add(condition, ItemOf(predicate));
    }
    catch (...)
    {
        attribute.Remove(condition, ItemOf(predicate));
        throw;
    }
    m_attributes.Retain(leaf->attribute);
    m_freePredicate = m_origins[predicate].users;
    m_origins[predicate] = Origin(leaf, m_events, 1);
    m_distinct++;
    return predicate;
}

void
TwoStep::ReleasePredicate(uint32_t predicate)
{
    Origin& origin = m_origins[predicate];
    if (--origin.users)
    {
        return;
    }
    // The index is about to let go of these.
    const Operand value(origin.condition.value);
    const Operand high(origin.condition.high);
    m_attributes[origin.attribute].Remove(origin.condition, ItemOf(predicate));
    m_attributes.Release(origin.attribute);
    m_predicates[predicate].fulfilled = 0;
    origin.users = m_freePredicate;
    m_freePredicate = predicate;
    if (--m_distinct == 0)
    {
        m_predicates = Vector<Predicate>();
        m_holds = Vector<uint64_t>();
        m_origins = Vector<Origin>();
        m_freePredicate = NONE;
    }
}

} // namespace pysim
