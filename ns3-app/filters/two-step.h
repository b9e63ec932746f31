#ifndef PYSIM_FILTERS_TWO_STEP_H
#define PYSIM_FILTERS_TWO_STEP_H

#include "attributes.h"
#include "keys.h"
#include "numbers.h"

namespace pysim
{

/**
 * The engine behind pysim.filters.two_step: the two steps of Bittner and Hinze as they published
 * them, with no short cut.
 *
 * First the one-dimensional indexes find the predicates that an event fulfils; each distinct
 * predicate is there once, however many subscriptions have it. Then the association table leads
 * from each of these to its subscriptions, whose hits are counted. Those that reach their minimum
 * predicate count are candidates: the location table leads to their trees, which are evaluated on
 * the fulfilled predicates. What each predicate has been fulfilled by is the selectivity table.
 *
 * A negated predicate counts nothing, since it is missing in what matches. So a subscription that
 * may match without any predicate is a candidate for every event.
 */
class TwoStep
{
  public:
    TwoStep() = default;
    TwoStep(const TwoStep&) = delete;
    TwoStep& operator=(const TwoStep&) = delete;

    ~TwoStep()
    {
        Clear();
    }

    /// @return whether it went well; if not, a Python error is set
    bool Insert(PyObject* key, PyObject* leaves, uint32_t minimum);
    /// Give a key another filter; predicates that stay keep what was counted for them.
    bool Replace(PyObject* key, PyObject* leaves, uint32_t minimum);
    bool Remove(PyObject* key);
    /// @return a new set, or nullptr with a Python error
    PyObject* Match(PyObject* event);
    /// @return a tuple: events that fulfilled a predicate, of how many since it is here
    PyObject* Selectivity(PyObject* leaves);

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

    uint64_t Events() const
    {
        return m_events;
    }

    /// Of all events, together.
    uint64_t Candidates() const
    {
        return m_candidates;
    }

    uint64_t Predicates() const
    {
        return m_distinct;
    }

    uint64_t Associations() const
    {
        return m_associations;
    }

    /// Memory of all tables and trees; the strings and the keys are Python's.
    uint64_t Bytes() const;

  private:
    static constexpr uint32_t NONE = UINT32_MAX;
    static constexpr uint32_t COUNTED = UINT32_MAX - 1; ///< to be associated
    static constexpr uint32_t MOST = UINT8_MAX;         ///< hits that can be counted

    /// What the second step needs of a distinct predicate.
    struct Predicate
    {
        Numbers subscriptions;
        uint64_t fulfilled{0}; ///< events that fulfilled it: an entry of the selectivity table
    };

    /// Where a predicate came from, and since when.
    struct Origin
    {
        Origin(const Leaf* leaf, uint64_t since, uint32_t users)
            : condition(leaf),
              since(since),
              attribute(leaf->attribute),
              users(users)
        {
        }

        Condition condition; ///< the index owns its strings
        uint64_t since;
        uint32_t attribute;
        uint32_t users; ///< nodes that have it; of a free place the number of the next one
    };

    struct Node
    {
        uint32_t predicate;
        uint32_t onTrue;
        uint32_t onFalse;
        uint32_t place; ///< among the predicate's subscriptions; or COUNTED, or NONE
    };

    struct Tree
    {
        uintptr_t output; ///< see Item
        uint32_t count;
        uint32_t distinct; ///< predicates in it
        Node nodes[1];
    };

    static size_t BytesOf(uint32_t nodes)
    {
        return sizeof(Tree) + (nodes - 1) * sizeof(Node);
    }

    /// Step one.
    void FindFulfilled(PyObject* event);
    /// Step two, up to the candidates.
    void FindCandidates();
    bool Evaluate(const Tree* tree) const;

    /// A tree with all its predicates; it is not yet associated with them.
    Tree* NewTree(const Subscription* subscription);
    void AddNodes(Tree* tree, const Subscription* subscription);
    void Free(Tree* tree);
    /// Enter a tree into the association table and the minimum predicate count vector.
    void Associate(Tree* tree, uint32_t number, uint32_t minimum);
    void Dissociate(Tree* tree, uint32_t number);
    /// Take a node out of the association table.
    void Forget(const Node& node);
    /// Take out all that is known under a number, and the number itself.
    void Uproot(uint32_t number);

    uint32_t AcquireNumber();
    void ReleaseNumber(uint32_t number);
    uint32_t AcquirePredicate(const Leaf* leaf);
    void ReleasePredicate(uint32_t predicate);

    Keys m_keys;
    uint64_t m_events{0};
    uint64_t m_candidates{0};
    uint64_t m_associations{0};
    uint32_t m_distinct{0};
    uint32_t m_freePredicate{NONE};
    Attributes m_attributes; ///< with the predicate indexes
    Vector<Predicate> m_predicates;
    Vector<uint64_t> m_holds; ///< a bit for each predicate that this event fulfils
    Vector<Origin> m_origins;
    Vector<uint8_t> m_minimum; ///< the minimum predicate count vector; 0 if no hits are counted
    Vector<uint8_t> m_missing; ///< what each subscription still lacks in this event
    Vector<Tree*> m_trees;     ///< the location table
    Vector<uint32_t> m_freeNumbers;
    Vector<uint32_t> m_always; ///< candidates whatever happens
    Reached m_fulfilled;       ///< kept from event to event, as is the next, for their memory
    Vector<uint32_t> m_found;
};

} // namespace pysim

#endif
