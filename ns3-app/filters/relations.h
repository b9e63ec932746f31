#ifndef PYSIM_FILTERS_RELATIONS_H
#define PYSIM_FILTERS_RELATIONS_H

#include "box.h"
#include "keys.h"

namespace pysim
{

/// The children of a node, in order of insertion, with what tells most of them apart beside them.
class Family
{
  public:
    size_t Size() const
    {
        return m_members.size();
    }

    uint32_t operator[](size_t place) const
    {
        return m_members[place].node;
    }

    /// Whether a member can be seen to be unrelated to who has this outline.
    bool IsApart(size_t place, const Outline& outline) const
    {
        return Outline::HaveOtherPins(m_pins[place], outline.pin) ||
               m_members[place].outline.LiesAside(outline);
    }

    void Insert(size_t place, uint32_t node, const Outline& outline)
    {
        m_pins.insert(m_pins.begin() + place, outline.pin);
        m_members.insert(m_members.begin() + place, {outline, node});
    }

    void Append(uint32_t node, const Outline& outline)
    {
        m_pins.push_back(outline.pin);
        m_members.push_back({outline, node});
    }

    void Append(const Family& other, size_t place)
    {
        Append(other[place], other.m_members[place].outline);
    }

    /// Take out all members of which this holds.
    template <class Test> void EraseIf(Test test)
    {
        size_t kept = 0;
        for (size_t place = 0; place < Size(); place++)
        {
            if (!test(m_members[place].node))
            {
                m_pins[kept] = m_pins[place];
                m_members[kept++] = m_members[place];
            }
        }
        m_pins.resize(kept);
        m_members.resize(kept);
    }

    void Erase(size_t place)
    {
        m_pins.erase(m_pins.begin() + place);
        m_members.erase(m_members.begin() + place);
    }

    Vector<uint32_t> Nodes() const
    {
        Vector<uint32_t> nodes;
        for (const Member& member : m_members)
        {
            nodes.push_back(member.node);
        }
        return nodes;
    }

  private:
    struct Member
    {
        Outline outline;
        uint32_t node;
    };

    Vector<uint32_t> m_pins; ///< also on their own: thousands of them fit into near caches
    Vector<Member> m_members;
};

/**
 * What both graphs behind pysim.filters.relations have in common: nodes, keys and edges, and how
 * two filters are compared. A subclass says how a new node is placed and where the children of a
 * removed one go; pysim/filters/relations/reference.py tells the same in Python.
 *
 * Boxes are compared here, all other filters by pysim.filters.covering.covers. That may fail, as
 * when the user interrupts it: from then on nothing is found to cover anything, which is always
 * safe, and when all is in order again, the error is passed on.
 */
class Relations
{
  public:
    Relations();
    Relations(const Relations&) = delete;
    Relations& operator=(const Relations&) = delete;
    virtual ~Relations() = default;

    /// @param sides of the filter's box, or None
    /// @return a tuple: whether it is covered, displaced keys, roots examined; or nullptr
    PyObject* Insert(PyObject* key, PyObject* filter, PyObject* sides);
    /// @return a list of the keys that are roots now, or nullptr with a Python error
    PyObject* Remove(PyObject* key);
    /// @return 1, 0, or -1 with a Python error
    int IsRoot(PyObject* key) const;
    PyObject* Roots() const;
    /// @return a list of tuples: the keys of a parent and of a child
    PyObject* Edges() const;

    uint64_t Comparisons() const
    {
        return m_comparisons;
    }

    uint64_t RootCount() const
    {
        return m_families[VIRTUAL].Size();
    }

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

  protected:
    static constexpr uint32_t NONE = UINT32_MAX;
    static constexpr uint32_t VIRTUAL = 0; ///< the node above the roots

    using Nodes = Vector<uint32_t>;

    struct Node
    {
        bool IsRoot() const
        {
            return parents.size() == 1 && parents[0] == VIRTUAL;
        }

        Box box;
        Ref filter;
        Nodes parents;
        uint64_t number{0};   ///< of the first key
        uint32_t first{NONE}; ///< entry, as is the next
        uint32_t last{NONE};
    };

    /// What has become of a new node.
    struct Placement
    {
        uint32_t equal{NONE}; ///< what it is to be combined with
        uint64_t examined{0};
        Nodes displaced;
    };

    /// Connect a new node unless it is equal to another, or the comparison has failed.
    virtual Placement Place(uint32_t node) = 0;
    /// Connect the children of a node that is gone, which had these parents.
    virtual void Lift(const Nodes& children, const Nodes& parents) = 0;

    Node& At(uint32_t node)
    {
        return m_nodes[node];
    }

    Family& ChildrenOf(uint32_t node)
    {
        return m_families[node];
    }

    size_t NodesEnd() const
    {
        return m_nodes.size();
    }

    bool HasFailed() const
    {
        return m_hasFailed;
    }

    /// How a node lies to a child of another.
    Relation Compare(uint32_t node, const Family& family, size_t place)
    {
        m_comparisons++;
        if (family.IsApart(place, m_nodes[node].box.GetOutline()))
        {
            return OTHER;
        }
        return CompareFully(m_nodes[node], m_nodes[family[place]]);
    }

    void Connect(uint32_t parent, uint32_t child);
    /// Connect several children, given in order of insertion.
    void ConnectAll(uint32_t parent, const Nodes& children);
    void Disconnect(uint32_t parent, uint32_t child);
    /// Give the keys of a node that has no parents to an equal one; the node is gone.
    void Combine(uint32_t node, uint32_t into);
    /// Forget a parent in the list of its child.
    void RemoveParent(uint32_t child, uint32_t parent);

    void SortByNumber(Nodes& nodes) const;

  private:
    /// A key of a node.
    struct Entry
    {
        PyObject* key; ///< owned by the dict of all keys
        uint64_t number;
        uint32_t node;
        uint32_t previous;
        uint32_t next; ///< later, of the same node; or the next free entry
    };

    class Busy;

    bool IsBusy() const;
    Relation CompareFully(const Node& one, const Node& other);
    bool Covers(const Node& general, const Node& special);
    PyObject* Enter(uint32_t entry, PyObject* key);
    PyObject* Withdraw(uint32_t entry);

    uint32_t AcquireNode();
    void ReleaseNode(uint32_t node);
    uint32_t AcquireEntry(uint32_t node);
    void ReleaseEntry(uint32_t entry);
    void Link(uint32_t entry, uint32_t node);
    void Unlink(uint32_t entry);
    /// Put a node where its first key belongs.
    void Renumber(uint32_t node);
    size_t PlaceOf(const Family& family, uint64_t number) const;
    PyObject* KeyOf(uint32_t node) const;
    PyObject* KeysOf(const Nodes& nodes) const;

    Keys m_keys;
    Dimensions m_dimensions;
    Vector<Node> m_nodes;
    Vector<Family> m_families; ///< their children, apart: who only passes by needs no more
    Vector<Entry> m_entries;
    Nodes m_freeNodes;
    uint32_t m_freeEntry{NONE};
    uint64_t m_inserted{0};
    uint64_t m_comparisons{0};
    bool m_isBusy{false};
    bool m_hasFailed{false};
};

/// Nodes that have been met, forgotten all at once.
class Marks
{
  public:
    void Begin(size_t nodes)
    {
        m_stamps.resize(std::max(nodes, m_stamps.size()));
        m_now++;
    }

    /// @return whether it is new
    bool Add(uint32_t node)
    {
        return std::exchange(m_stamps[node], m_now) != m_now;
    }

    bool Has(uint32_t node) const
    {
        return m_stamps[node] == m_now;
    }

  private:
    Vector<uint64_t> m_stamps;
    uint64_t m_now{0};
};

} // namespace pysim

#endif
