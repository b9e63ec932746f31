#ifndef PYSIM_FILTERS_DRAFT_H
#define PYSIM_FILTERS_DRAFT_H

#include "attributes.h"

namespace pysim
{

/// A subscription as Python tells it; dropped again if nobody takes it over.
class Draft
{
  public:
    explicit Draft(Attributes& attributes)
        : m_attributes(attributes)
    {
    }

    Draft(const Draft&) = delete;
    Draft& operator=(const Draft&) = delete;

    ~Draft()
    {
        if (m_subscription)
        {
            Drop(m_attributes, m_subscription);
        }
    }

    /// @return whether the leaves make a filter; if not, a Python error is set
    bool Read(PyObject* leaves);

    Subscription* Get() const
    {
        return m_subscription;
    }

    Subscription* Release()
    {
        return std::exchange(m_subscription, nullptr);
    }

    /// Free a subscription that nothing leads to any more; its key may go with it.
    static void Drop(Attributes& attributes, Subscription* subscription);

  private:
    bool ReadLeaf(PyObject* leaf, uint32_t count);
    bool AreRangesEnded() const;

    Attributes& m_attributes;
    Subscription* m_subscription{nullptr};
};

} // namespace pysim

#endif
