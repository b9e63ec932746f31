#include "arguments.h"

namespace pysim
{

bool
RequireOpen(const Simulation::Impl* simulation)
{
    if (!simulation)
    {
        PyErr_SetString(PyExc_RuntimeError, "the simulation is closed");
    }
    return simulation != nullptr;
}

bool
RequireCount(const char* name, Py_ssize_t count, Py_ssize_t expected)
{
    if (count != expected)
    {
        PyErr_Format(PyExc_TypeError, "%s() takes %zd arguments, got %zd", name, expected, count);
    }
    return count == expected;
}

bool
ReadBroker(const Simulation::Impl& simulation, PyObject* object, uint32_t& broker)
{
    const long number = PyLong_AsLong(object);
    if (number == -1 && PyErr_Occurred())
    {
        return false;
    }
    if (number < 0 || number >= static_cast<long>(simulation.brokers))
    {
        PyErr_Format(PyExc_ValueError, "there is no broker %ld", number);
        return false;
    }
    broker = number;
    return true;
}

PyObject*
Sent(BrokerApplication::SendResult result, uint32_t source, uint32_t target, uint32_t size)
{
    switch (result)
    {
    case BrokerApplication::SendResult::OK:
        Py_RETURN_NONE;
    case BrokerApplication::SendResult::NO_LINK:
        return PyErr_Format(
            PyExc_ValueError, "broker %u has no link to broker %u to send over", source, target);
    default:
        return PyErr_Format(PyExc_ValueError,
                            "broker %u sends broker %u a frame of %u bytes that is malformed or "
                            "over the limit",
                            source,
                            target,
                            size);
    }
}

} // namespace pysim
