#include "agent-book.h"

#include "../model/frame-header.h"

#include <algorithm>

namespace pysim
{

namespace
{

/// Python's own zlib.crc32, so that a checksum is the same on every network.
PyObject*
Crc32()
{
    static PyObject* function = []() {
        Ref module(PyImport_ImportModule("zlib"));
        return module ? PyObject_GetAttrString(module.Get(), "crc32") : nullptr;
    }();
    return function;
}

} // namespace

void
AgentBook::Enter(Side& side, PyObject* frame)
{
    const auto size = static_cast<uint64_t>(PyBytes_GET_SIZE(frame));
    const long type =
        size > FrameHeader::TYPE_AT
            ? reinterpret_cast<const uint8_t*>(PyBytes_AS_STRING(frame))[FrameHeader::TYPE_AT]
            : 0;
    for (Entry& entry : side)
    {
        if (entry.type == type)
        {
            entry.messages++;
            entry.bytes += size;
            return;
        }
    }
    side.push_back({type, 1, size});
}

void
AgentBook::EnterReceived(PyObject* frame)
{
    Enter(m_received, frame);
}

bool
AgentBook::EnterSent(uint32_t target, PyObject* frame)
{
    Enter(m_sent, frame);
    auto found = std::find_if(m_contents.begin(), m_contents.end(), [target](const auto& known) {
        return known.first == target;
    });
    if (found == m_contents.end())
    {
        found = m_contents.insert(found, {target, Ref(PyLong_FromLong(0))});
    }
    PyObject* arguments[] = {nullptr, frame, found->second.Get()};
    found->second = Ref(
        PyObject_Vectorcall(Crc32(), arguments + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
    return static_cast<bool>(found->second);
}

Ref
AgentBook::ReadSide(const Side& side)
{
    Ref rows(PyDict_New());
    for (const Entry& entry : side)
    {
        Ref type(PyLong_FromLong(entry.type));
        Ref row(Py_BuildValue("[KK]",
                              static_cast<unsigned long long>(entry.messages),
                              static_cast<unsigned long long>(entry.bytes)));
        PyDict_SetItem(rows.Get(), type.Get(), row.Get());
    }
    return rows;
}

PyObject*
AgentBook::Read() const
{
    Ref contents(PyDict_New());
    for (const auto& [target, checksum] : m_contents)
    {
        Ref key(PyLong_FromUnsignedLong(target));
        PyDict_SetItem(contents.Get(), key.Get(), checksum.Get());
    }
    return PyTuple_Pack(3, ReadSide(m_sent).Get(), ReadSide(m_received).Get(), contents.Get());
}

} // namespace pysim
