#ifndef PYSIM_FILTERS_ATTRIBUTES_H
#define PYSIM_FILTERS_ATTRIBUTES_H

#include "attribute.h"

namespace pysim
{

/// The attributes that the filters of an engine name, by number and by name.
class Attributes
{
  public:
    static constexpr uint32_t NONE = UINT32_MAX;

    Attribute& operator[](uint32_t attribute)
    {
        return m_attributes[attribute];
    }

    const Attribute& operator[](uint32_t attribute) const
    {
        return m_attributes[attribute];
    }

    /// The number of an attribute that has one user more.
    uint32_t Acquire(PyObject* name);
    void Release(uint32_t attribute);

    void Retain(uint32_t attribute)
    {
        m_attributes[attribute].users++;
    }

    /// Visit the attributes that an event has, with its values; `event` is a plain dict.
    template <class Visit> void ForEachIn(PyObject* event, Visit visit)
    {
        PyObject* name;
        PyObject* object;
        for (Py_ssize_t place = 0; PyDict_Next(event, &place, &name, &object);)
        {
            const uint32_t found = PyUnicode_Check(name) ? Find(name, TextHash(name)) : NONE;
            if (found == NONE)
            {
                continue;
            }
            const Value value = Value::Of(object);
            if (!value.IsMissing())
            {
                visit(m_attributes[found], value);
            }
        }
    }

    void Clear();
    size_t Bytes() const;

  private:
    static constexpr size_t FEW = 4; ///< so many are looked through

    struct Name
    {
        bool IsFree() const
        {
            return attribute == NONE;
        }

        uint64_t Hash() const
        {
            return hash;
        }

        uint64_t hash{0};
        uint32_t attribute{NONE};
    };

    uint32_t Find(PyObject* name, uint64_t hash) const
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

    Vector<Attribute> m_attributes;
    HashTable<Name> m_names;
    uint32_t m_free{NONE}; ///< the first free place among them
};

} // namespace pysim

#endif
