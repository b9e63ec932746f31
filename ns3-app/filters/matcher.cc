#include "matcher.h"

#include <algorithm>

namespace pysim
{

namespace
{

Subscription*
SubscriptionAt(PyObject* address)
{
    return static_cast<Subscription*>(PyLong_AsVoidPtr(address));
}

/// Raise an error of pysim.filters.index.
void
RaiseKeyError(const char* name, PyObject* key)
{
    Ref module(PyImport_ImportModule("pysim.filters.index"));
    Ref type(module ? PyObject_GetAttrString(module.Get(), name) : nullptr);
    // Made here, because Python would take a key that is a tuple for several arguments.
    Ref error(type ? PyObject_CallOneArg(type.Get(), key) : nullptr);
    if (error)
    {
        PyErr_SetObject(type.Get(), error.Get());
    }
}

/// What to hand out for a key: itself, or a set of it that knows its hash where that is slow.
uintptr_t
OutputOf(PyObject* key)
{
    const hashfunc hash = Py_TYPE(key)->tp_hash;
    if (hash == PyBaseObject_Type.tp_hash || hash == PyUnicode_Type.tp_hash ||
        hash == PyLong_Type.tp_hash)
    {
        Py_INCREF(key);
        return reinterpret_cast<uintptr_t>(key);
    }
    Ref alone(PyTuple_Pack(1, key));
    PyObject* held = alone ? PyFrozenSet_New(alone.Get()) : nullptr;
    return held ? reinterpret_cast<uintptr_t>(held) | Item::HELD : 0;
}

/// A plain dict of an event that is another mapping.
Ref
PlainEvent(PyObject* event)
{
    Ref items(PyMapping_Items(event));
    Ref plain(items ? PyDict_New() : nullptr);
    if (!plain || PyDict_MergeFromSeq2(plain.Get(), items.Get(), 1) < 0)
    {
        return Ref();
    }
    return plain;
}

/// Ask for the first leaves of a subscription, which are in no cache where there are many.
void
Prefetch(const void* subscription)
{
    __builtin_prefetch(subscription);
    __builtin_prefetch(static_cast<const char*>(subscription) + 64);
}

PyObject*
SetOf(const Reached& matched)
{
    Ref set(PySet_New(nullptr));
    for (const uintptr_t item : matched)
    {
        if (!set)
        {
            break;
        }
        if (item & Item::HELD)
        {
            set = Ref(PyNumber_InPlaceOr(set.Get(), Item::Object(item)));
        }
        else if (PySet_Add(set.Get(), Item::Object(item)) < 0)
        {
            return nullptr;
        }
    }
    return set.Release();
}

} // namespace

Matcher::Draft::Draft(Matcher& matcher, Py_ssize_t count, bool isDecided)
    : matcher(matcher),
      subscription(
          static_cast<Subscription*>(Allocate(sizeof(Subscription) + (count - 1) * sizeof(Leaf))))
{
    subscription->output = 0;
    subscription->count = 0;
    subscription->isDecided = isDecided;
}

bool
Matcher::Insert(PyObject* key, PyObject* leaves, bool isDecided)
{
    const Py_ssize_t count = PyList_Check(leaves) ? PyList_GET_SIZE(leaves) : 0;
    if (!count || count >= Leaf::REJECT)
    {
        PyErr_SetString(PyExc_TypeError, "Expected a list of leaves");
        return false;
    }
    Draft draft(*this, count, isDecided);
    if (!ReadLeaves(leaves, draft.subscription))
    {
        return false;
    }
    draft.subscription->output = OutputOf(key);
    Ref address(PyLong_FromVoidPtr(draft.subscription));
    if (!draft.subscription->output || !address || !(m_keys || (m_keys = PyDict_New())))
    {
        return false;
    }
    Ref keys = Ref::Borrow(m_keys);
    PyObject* entered = PyDict_SetDefault(keys.Get(), key, address.Get());
    if (entered != address.Get())
    {
        if (entered)
        {
            RaiseKeyError("DuplicateKeyError", key);
        }
        return false;
    }
    try
    {
        Attach(draft.subscription);
    }
    catch (...)
    {
        PyDict_DelItem(keys.Get(), key);
        throw;
    }
    draft.subscription = nullptr;
    return true;
}

bool
Matcher::Remove(PyObject* key)
{
    Ref keys = Ref::Borrow(m_keys);
    Ref address;
    if (keys)
    {
        static PyObject* pop = PyUnicode_InternFromString("pop");
        address = Ref(PyObject_CallMethodObjArgs(keys.Get(), pop, key, Py_None, nullptr));
        if (!address)
        {
            return false;
        }
    }
    if (!address || address.Get() == Py_None)
    {
        RaiseKeyError("UnknownKeyError", key);
        return false;
    }
    Subscription* subscription = SubscriptionAt(address.Get());
    Detach(subscription);
    Drop(subscription);
    return true;
}

PyObject*
Matcher::Match(PyObject* event)
{
    Ref plain;
    if (!PyDict_CheckExact(event))
    {
        plain = PlainEvent(event);
        if (!plain)
        {
            return nullptr;
        }
        event = plain.Get();
    }
    Reached reached;
    Collect(event, reached);
    if (m_evaluated)
    {
        Reached matched;
        EvaluateAll(reached, matched);
        return PyErr_Occurred() ? nullptr : SetOf(matched);
    }
    return PyErr_Occurred() ? nullptr : SetOf(reached);
}

int
Matcher::Contains(PyObject* key) const
{
    Ref keys = Ref::Borrow(m_keys);
    return keys ? PyDict_Contains(keys.Get(), key) : 0;
}

Py_ssize_t
Matcher::Size() const
{
    return m_keys ? PyDict_GET_SIZE(m_keys) : 0;
}

int
Matcher::Traverse(visitproc visit, void* arg) const
{
    Py_VISIT(m_keys);
    PyObject* address;
    for (Py_ssize_t place = 0; m_keys && PyDict_Next(m_keys, &place, nullptr, &address);)
    {
        Py_VISIT(Item::Object(SubscriptionAt(address)->output));
    }
    return 0;
}

void
Matcher::Clear()
{
    Ref keys(std::exchange(m_keys, nullptr)); // goes last, and the keys with it
    PyObject* address;
    for (Py_ssize_t place = 0; keys && PyDict_Next(keys.Get(), &place, nullptr, &address);)
    {
        Drop(SubscriptionAt(address));
    }
    m_attributes = Vector<Attribute>();
    m_names = HashTable<Name>();
    m_always = Vector<const Subscription*>();
    m_free = NONE;
    m_evaluated = 0;
}

bool
Matcher::ReadLeaves(PyObject* leaves, Subscription* subscription)
{
    // Python makes the last leaf first, so that it knows where to go on.
    const auto count = static_cast<uint32_t>(PyList_GET_SIZE(leaves));
    for (uint32_t place = 0; place < count; place++)
    {
        if (static_cast<Py_ssize_t>(count) != PyList_GET_SIZE(leaves) ||
            !ReadLeaf(PyList_GET_ITEM(leaves, count - 1 - place), subscription, count))
        {
            if (!PyErr_Occurred())
            {
                PyErr_SetString(PyExc_TypeError, "Expected leaves that make a filter");
            }
            return false;
        }
    }
    for (uint32_t place = 0; place < count; place++)
    {
        const Leaf* leaf = &subscription->leaves[place];
        const bool isEnded = leaf->onTrue == place + 1 && place + 1 < count &&
                             (leaf[1].op == Operator::LT || leaf[1].op == Operator::LE) &&
                             leaf[1].attribute == leaf->attribute &&
                             leaf[1].value.IsText() == leaf->value.IsText();
        if (leaf->IsRange() && !isEnded)
        {
            PyErr_SetString(PyExc_TypeError, "Expected a range with two ends");
            return false;
        }
    }
    return true;
}

bool
Matcher::ReadLeaf(PyObject* source, Subscription* subscription, uint32_t count)
{
    PyObject* name;
    PyObject* operand;
    int op;
    int onTrue;
    int onFalse;
    int isTrigger;
    const Ref kept = Ref::Borrow(source);
    if (!PyTuple_Check(source) ||
        !PyArg_ParseTuple(source, "UiOiip", &name, &op, &operand, &onTrue, &onFalse, &isTrigger))
    {
        return false;
    }
    // Ahead lie the leaves that were made before this one.
    const int place = static_cast<int>(subscription->count);
    const int ahead = static_cast<int>(count) - 1 - place;
    const Value value = Value::Of(operand);
    const bool isPattern =
        op >= static_cast<int>(Operator::PREFIX) && op <= static_cast<int>(Operator::CONTAINS);
    if (op < 0 || op > static_cast<int>(Operator::LAST) || onTrue < -2 || onTrue >= ahead ||
        onFalse < -2 || onFalse >= ahead || !PyUnicode_CheckExact(name) ||
        (value.IsText() ? !PyUnicode_CheckExact(operand) : isPattern) ||
        value.IsMissing() != (op == static_cast<int>(Operator::EXISTS)))
    {
        return false;
    }
    const auto target = [&](int made) {
        return made == -1   ? Leaf::ACCEPT
               : made == -2 ? Leaf::REJECT
                            : count - 1 - static_cast<uint32_t>(made);
    };
    Leaf& leaf = subscription->leaves[place];
    leaf.attribute = AcquireAttribute(name);
    leaf.value = value;
    if (value.IsText())
    {
        Py_INCREF(value.Text());
    }
    leaf.onTrue = target(onTrue);
    leaf.onFalse = target(onFalse);
    leaf.op = static_cast<Operator>(op);
    leaf.isTrigger = isTrigger;
    subscription->count++;
    return true;
}

void
Matcher::Attach(const Subscription* subscription)
{
    bool isTriggered = false;
    uint32_t place = 0;
    try
    {
        for (; place < subscription->count; place++)
        {
            const Leaf* leaf = &subscription->leaves[place];
            if (leaf->isTrigger)
            {
                isTriggered = true;
                m_attributes[leaf->attribute].Add(leaf, Item::Of(subscription));
            }
        }
        if (!isTriggered)
        {
            m_always.push_back(subscription);
        }
    }
    catch (...)
    {
        RemoveTriggers(subscription, std::min(place + 1, subscription->count));
        throw;
    }
    m_evaluated += !subscription->isDecided;
}

void
Matcher::Detach(const Subscription* subscription)
{
    m_evaluated -= !subscription->isDecided;
    if (RemoveTriggers(subscription, subscription->count))
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

bool
Matcher::RemoveTriggers(const Subscription* subscription, uint32_t count)
{
    bool isTriggered = false;
    for (uint32_t place = 0; place < count; place++)
    {
        const Leaf* leaf = &subscription->leaves[place];
        if (leaf->isTrigger)
        {
            isTriggered = true;
            m_attributes[leaf->attribute].Remove(leaf, Item::Of(subscription));
        }
    }
    return isTriggered;
}

void
Matcher::Drop(Subscription* subscription)
{
    for (uint32_t place = 0; place < subscription->count; place++)
    {
        const Leaf& leaf = subscription->leaves[place];
        ReleaseAttribute(leaf.attribute);
        if (leaf.value.IsText())
        {
            Py_DECREF(leaf.value.Text());
        }
    }
    Ref output(Item::Object(subscription->output)); // goes last: it may run code of Python's
    PyMem_Free(subscription);
}

uint32_t
Matcher::FindAttribute(PyObject* name, uint64_t hash) const
{
    if (m_attributes.size() <= FEW)
    {
        for (uint32_t attribute = 0; attribute < m_attributes.size(); attribute++)
        {
            if (m_attributes[attribute].IsNamed(name, hash))
            {
                return attribute;
            }
        }
        return NONE;
    }
    const Name* found = m_names.Find(hash, [&](const Name& slot) {
        return slot.hash == hash && m_attributes[slot.attribute].IsNamed(name, hash);
    });
    return found ? found->attribute : NONE;
}

uint32_t
Matcher::AcquireAttribute(PyObject* name)
{
    const uint64_t hash = TextHash(name);
    uint32_t attribute = FindAttribute(name, hash);
    if (attribute == NONE)
    {
        if (m_free == NONE)
        {
            m_attributes.emplace_back();
            m_free = static_cast<uint32_t>(m_attributes.size() - 1);
            m_attributes[m_free].users = NONE;
        }
        attribute = m_free;
        m_names.Insert({hash, attribute});
        m_free = m_attributes[attribute].users;
        m_attributes[attribute] = Attribute(name, hash);
    }
    m_attributes[attribute].users++;
    return attribute;
}

void
Matcher::ReleaseAttribute(uint32_t attribute)
{
    Attribute& released = m_attributes[attribute];
    if (--released.users)
    {
        return;
    }
    m_names.Erase(m_names.Find(released.NameHash(),
                               [&](const Name& slot) { return slot.attribute == attribute; }));
    released = Attribute();
    released.users = m_free;
    m_free = attribute;
    if (!m_names.Size())
    {
        m_attributes = Vector<Attribute>();
        m_free = NONE;
    }
}

void
Matcher::Collect(PyObject* event, Reached& reached)
{
    m_match++;
    PyObject* name;
    PyObject* object;
    for (Py_ssize_t place = 0; PyDict_Next(event, &place, &name, &object);)
    {
        const uint32_t found = PyUnicode_Check(name) ? FindAttribute(name, TextHash(name)) : NONE;
        if (found == NONE)
        {
            continue;
        }
        Attribute& attribute = m_attributes[found];
        const Value value = Value::Of(object);
        if (value.IsMissing())
        {
            continue;
        }
        if (m_evaluated)
        {
            attribute.match = m_match;
            attribute.value = value;
        }
        attribute.Collect(value, m_match, reached);
    }
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
