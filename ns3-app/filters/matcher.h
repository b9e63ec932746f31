#ifndef PYSIM_FILTERS_MATCHER_H
#define PYSIM_FILTERS_MATCHER_H

#include "attributes.h"
#include "keys.h"
#include "screens.h"

namespace pysim
{

/**
 * The engine behind pysim.filters.native: the two steps of counting.py, but for the counting.
 *
 * An event's values reach the filters of which they fulfil a trigger. Those that a trigger decides
 * match; the others are evaluated at once on the event's values, which takes no longer than to look
 * at their counts would. So what is no trigger of any filter is in no index.
 *
 * Where the best trigger of a conjunction is a comparison, many events would fulfil it; where it is
 * an equality that very many filters ask for, one event would reach them all. Such filters are in a
 * screen instead, which looks at all their comparisons together.
 *
 * No code of Python's runs between the first look at an event and the last: keys are hashed and
 * compared when all of them are found. So a key's methods may do anything, even come back here.
 */
class Matcher
{
  public:
    Matcher() = default;
    Matcher(const Matcher&) = delete;
    Matcher& operator=(const Matcher&) = delete;

    ~Matcher()
    {
        Clear();
    }

    /// @return whether it went well; if not, a Python error is set
    bool Insert(PyObject* key, PyObject* leaves, bool isDecided);
    bool Remove(PyObject* key);
    /// @return a new set, or nullptr with a Python error
    PyObject* Match(PyObject* event);
    /// @return 1, 0, or -1 with a Python error
    int Contains(PyObject* key) const
    {
        return m_keys.Contains(key);
    }

    Py_ssize_t Size() const
    {
        return m_keys.Size();
    }

    int Traverse(visitproc visit, void* arg) const;
    void Clear();

  private:
    void Attach(Subscription* subscription);
    void Detach(Subscription* subscription);
    void AddTriggers(const Subscription* subscription);
    /// @return whether there are any among the first `count` leaves
    bool RemoveTriggers(const Subscription* subscription, uint32_t count);

    void Collect(PyObject* event, Reached& reached);
    void EvaluateAll(Reached& reached, Reached& matched) const;
    bool Evaluate(const Subscription* subscription) const;
    bool Test(const Leaf& leaf) const;

    // What every match needs comes first: in a simulation it is in no cache.
    uint64_t m_match{0};     ///< the number of the latest match
    uint32_t m_evaluated{0}; ///< subscriptions that no trigger decides
    Attributes m_attributes;
    Vector<const Subscription*> m_always; ///< with negations nothing need be fulfilled: no triggers
    Screens m_screens{m_attributes};
    Keys m_keys;
};

} // namespace pysim

#endif
