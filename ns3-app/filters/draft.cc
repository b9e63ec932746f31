#include "draft.h"

namespace pysim
{

bool
Draft::Read(PyObject* leaves)
{
    const Py_ssize_t size = PyList_Check(leaves) ? PyList_GET_SIZE(leaves) : 0;
    if (!size || size > INT32_MAX)
    {
        PyErr_SetString(PyExc_TypeError, "Expected a list of leaves");
        return false;
    }
    const auto count = static_cast<uint32_t>(size);
    m_subscription =
        static_cast<Subscription*>(Allocate(sizeof(Subscription) + (count - 1) * sizeof(Leaf)));
    m_subscription->output = 0;
    m_subscription->count = 0;
    m_subscription->isDecided = false;
    m_subscription->place = 0;
    // Python makes the last leaf first, so that it knows where to go on.
    for (uint32_t place = 0; place < count; place++)
    {
        if (size != PyList_GET_SIZE(leaves) ||
            !ReadLeaf(PyList_GET_ITEM(leaves, count - 1 - place), count))
        {
            if (!PyErr_Occurred())
            {
                PyErr_SetString(PyExc_TypeError, "Expected leaves that make a filter");
            }
            return false;
        }
    }
    if (!AreRangesEnded())
    {
        PyErr_SetString(PyExc_TypeError, "Expected a range with two ends");
        return false;
    }
    return true;
}

bool
Draft::ReadLeaf(PyObject* source, uint32_t count)
{
    PyObject* name;
    PyObject* operand;
    int op;
    int onTrue;
    int onFalse;
    int leads;
    const Ref kept = Ref::Borrow(source);
    if (!PyTuple_Check(source) ||
        !PyArg_ParseTuple(source, "UiOiip", &name, &op, &operand, &onTrue, &onFalse, &leads))
    {
        return false;
    }
    // Ahead lie the leaves that were made before this one.
    const int place = static_cast<int>(m_subscription->count);
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
    Leaf& leaf = m_subscription->leaves[place];
    leaf.attribute = m_attributes.Acquire(name);
    leaf.value = value;
    if (value.IsText())
    {
        Py_INCREF(value.Text());
    }
    leaf.onTrue = target(onTrue);
    leaf.onFalse = target(onFalse);
    leaf.op = static_cast<Operator>(op);
    leaf.leads = leads;
    m_subscription->count++;
    return true;
}

bool
Draft::AreRangesEnded() const
{
    const uint32_t count = m_subscription->count;
    for (uint32_t place = 0; place < count; place++)
    {
        const Leaf* leaf = &m_subscription->leaves[place];
        const bool isEnded = leaf->onTrue == place + 1 && place + 1 < count &&
                             (leaf[1].op == Operator::LT || leaf[1].op == Operator::LE) &&
                             leaf[1].attribute == leaf->attribute &&
                             leaf[1].onFalse == leaf->onFalse &&
                             leaf[1].value.IsText() == leaf->value.IsText();
        if (leaf->IsRange() && !isEnded)
        {
            return false;
        }
    }
    return true;
}

void
Draft::Drop(Attributes& attributes, Subscription* subscription)
{
    for (uint32_t place = 0; place < subscription->count; place++)
    {
        const Leaf& leaf = subscription->leaves[place];
        attributes.Release(leaf.attribute);
        if (leaf.value.IsText())
        {
            Py_DECREF(leaf.value.Text());
        }
    }
    Ref output(Item::Object(subscription->output)); // goes last: it may run code of Python's
    PyMem_Free(subscription);
}

} // namespace pysim
