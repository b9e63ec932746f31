#ifndef PYSIM_FILTERS_MATCHER_H
#define PYSIM_FILTERS_MATCHER_H

#include "attribute.h"
#include "hash-table.h"
#include "subscription.h"

#include "../python/ref.h"

namespace pysim
{

/**
 * The engine behind pysim.filters.native: the two steps of counting.py, but for the counting.
 *
 * An event's values reach the filters of which they fulfil a trigger. Those that a trigger decides
 * match; the others are evaluated at once on the event's values, which takes no longer than to look
 * at their counts would. So what is no trigger of any filter is in no index.
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
    int Contains(PyObject* key) const;
    Py_ssize_t Size() const;

    int Traverse(visitproc visit, void* arg) const;
    void Clear();

  private:
    static constexpr uint32_t NONE = UINT32_MAX;
    static constexpr size_t FEW = 4; ///< so many attributes are looked through

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

    /// A subscription on its way in; dropped if it does not arrive.
    struct Draft
    {
        explicit Draft(Matcher& matcher, Py_ssize_t count, bool isDecided);

        ~Draft()
        {
            if (subscription)
            {
                matcher.Drop(subscription);
            }
        }

        Matcher& matcher;
        Subscription* subscription;
    };

    bool ReadLeaves(PyObject* leaves, Subscription* subscription);
    bool ReadLeaf(PyObject* leaf, Subscription* subscription, uint32_t count);
    void Attach(const Subscription* subscription);
    void Detach(const Subscription* subscription);
    /// @return whether there are any among the first `count` leaves
    bool RemoveTriggers(const Subscription* subscription, uint32_t count);
    /// Free a subscription that nothing leads to any more; its key may go with it.
    void Drop(Subscription* subscription);

    uint32_t FindAttribute(PyObject* name, uint64_t hash) const;
    uint32_t AcquireAttribute(PyObject* name);
    void ReleaseAttribute(uint32_t attribute);

    void Collect(PyObject* event, Reached& reached);
    void EvaluateAll(Reached& reached, Reached& matched) const;
    bool Evaluate(const Subscription* subscription) const;
    bool Test(const Leaf& leaf) const;

    PyObject* m_keys{nullptr}; ///< dict: key -> address of its subscription
    uint64_t m_match{0};       ///< the number of the latest match
    Vector<Attribute> m_attributes;
    HashTable<Name> m_names;
    Vector<const Subscription*> m_always; ///< with negations nothing need be fulfilled: no triggers
    uint32_t m_free{NONE};                ///< the first free place among the attributes
    uint32_t m_evaluated{0};              ///< subscriptions that no trigger decides
};

} // namespace pysim

#endif
