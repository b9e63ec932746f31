#ifndef PYSIM_ARGUMENTS_H
#define PYSIM_ARGUMENTS_H

#include "simulation-impl.h"

// What the functions that Python calls check alike; each sets a Python error if something is wrong.

namespace pysim
{

/// @return whether there is a simulation, which there is not when it is closed
bool RequireOpen(const Simulation::Impl* simulation);

bool RequireCount(const char* name, Py_ssize_t count, Py_ssize_t expected);

/// Read a broker number. @return whether it is one
bool ReadBroker(const Simulation::Impl& simulation, PyObject* object, uint32_t& broker);

/// @return None, or nullptr if the message was not sent
PyObject* Sent(BrokerApplication::SendResult result,
               uint32_t source,
               uint32_t target,
               uint32_t size);

} // namespace pysim

#endif
