#include "attributes.h"

namespace pysim
{

uint32_t
Attributes::Acquire(PyObject* name)
{
    const uint64_t hash = TextHash(name);
    uint32_t attribute = Find(name, hash);
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
Attributes::Release(uint32_t attribute)
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
        Clear();
    }
}

void
Attributes::Clear()
{
    m_attributes = Vector<Attribute>();
    m_names = HashTable<Name>();
    m_free = NONE;
}

size_t
Attributes::Bytes() const
{
    size_t bytes = m_attributes.capacity() * sizeof(Attribute) + m_names.Bytes();
    for (const Attribute& attribute : m_attributes)
    {
        bytes += attribute.Bytes();
    }
    return bytes;
}

} // namespace pysim
