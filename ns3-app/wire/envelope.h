#ifndef PYSIM_ENVELOPE_H
#define PYSIM_ENVELOPE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "../model/frame-header.h"

namespace pysim
{

/// pysim.wire.Envelope, as the library and the extension module that defines it both see it.
struct EnvelopeObject
{
    PyObject_HEAD PyObject* frame; ///< bytes, with a header that is in order
    PyObject* body;                ///< the decoded message, or nullptr until somebody asks for it
    uint32_t origin;
    uint32_t sequence;
    uint8_t type;
};

/// Put a frame into a new envelope.
/// @param type  of the object: the class Envelope
/// @param frame bytes whose header is in order; the reference is taken over
/// @return the envelope, or nullptr with a Python error
inline PyObject*
NewEnvelope(PyTypeObject* type, PyObject* frame, PyObject* body = nullptr)
{
    auto envelope = PyObject_New(EnvelopeObject, type);
    if (!envelope)
    {
        Py_DECREF(frame);
        return nullptr;
    }
    auto bytes = reinterpret_cast<const uint8_t*>(PyBytes_AS_STRING(frame));
    envelope->frame = frame;
    envelope->body = Py_XNewRef(body);
    envelope->origin = FrameHeader::Number(bytes + FrameHeader::ORIGIN_AT);
    envelope->sequence = FrameHeader::Number(bytes + FrameHeader::SEQUENCE_AT);
    envelope->type = bytes[FrameHeader::TYPE_AT];
    return reinterpret_cast<PyObject*>(envelope);
}

} // namespace pysim

#endif
