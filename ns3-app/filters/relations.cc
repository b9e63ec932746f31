#include "relations.h"

namespace pysim
{

namespace
{

/// An entry's number as the word of its key.
uintptr_t
WordOf(uint32_t entry)
{
    return static_cast<uintptr_t>(entry) + 1;
}

uint32_t
EntryOf(uintptr_t word)
{
    return static_cast<uint32_t>(word - 1);
}

} // namespace

/// While this is there, filters may be compared, and nobody else may change the graph.
class Relations::Busy
{
  public:
    explicit Busy(Relations& graph)
        : m_graph(graph)
    {
        m_graph.m_isBusy = true;
        m_graph.m_hasFailed = false;
    }

    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

    ~Busy()
    {
        m_graph.m_isBusy = false;
    }

  private:
    Relations& m_graph;
};

Relations::Relations()
{
    m_nodes.emplace_back();
    m_families.emplace_back();
}

PyObject*
Relations::Insert(PyObject* key, PyObject* filter, PyObject* sides)
{
    Box box;
    if (IsBusy() || !box.Read(sides, m_dimensions))
    {
        return nullptr;
    }
    const uint32_t node = AcquireNode();
    m_nodes[node].box = std::move(box);
    m_nodes[node].filter = Ref::Borrow(filter);
    const uint32_t entry = AcquireEntry(node);
    if (!m_keys.Add(key, WordOf(entry)))
    {
        ReleaseEntry(entry);
        ReleaseNode(node);
        return nullptr;
    }
    // Only now: who compares keys may insert others.
    m_entries[entry].key = key;
    m_entries[entry].number = ++m_inserted;
    Link(entry, node);
    return Enter(entry, key);
}

PyObject*
Relations::Enter(uint32_t entry, PyObject* key)
{
    const Busy busy(*this);
    const uint32_t node = m_entries[entry].node;
    const Placement placement = Place(node);
    if (m_hasFailed)
    {
        Ref error = TakeException();
        m_keys.Discard(key);
        ReleaseEntry(entry);
        ReleaseNode(node);
        PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.Get())), error.Get());
        return nullptr;
    }
    const bool isRoot = m_nodes[node].IsRoot();
    if (placement.equal != NONE)
    {
        Combine(node, placement.equal);
    }
    Ref displaced(KeysOf(placement.displaced));
    if (!displaced)
    {
        return nullptr;
    }
    return Py_BuildValue("(OOK)", isRoot ? Py_False : Py_True, displaced.Get(), placement.examined);
}

PyObject*
Relations::Remove(PyObject* key)
{
    const uintptr_t word = IsBusy() ? 0 : m_keys.Take(key);
    return word ? Withdraw(EntryOf(word)) : nullptr;
}

PyObject*
Relations::Withdraw(uint32_t entry)
{
    const Busy busy(*this);
    const uint32_t node = m_entries[entry].node;
    const bool stoodForRoot = m_nodes[node].IsRoot() && m_nodes[node].first == entry;
    Unlink(entry);
    ReleaseEntry(entry);
    Nodes risen;
    if (m_nodes[node].first != NONE)
    {
        Renumber(node);
        risen.push_back(node);
    }
    else
    {
        const Nodes parents = m_nodes[node].parents;
        risen = m_families[node].Nodes();
        for (const uint32_t parent : parents)
        {
            Disconnect(parent, node);
        }
        for (const uint32_t child : risen)
        {
            RemoveParent(child, node);
        }
        ReleaseNode(node);
        Lift(risen, parents);
    }
    if (m_hasFailed)
    {
        return nullptr;
    }
    risen.erase(std::remove_if(risen.begin(),
                               risen.end(),
                               [&](uint32_t one) { return !stoodForRoot || !At(one).IsRoot(); }),
                risen.end());
    return KeysOf(risen);
}

int
Relations::IsRoot(PyObject* key) const
{
    const uintptr_t word = m_keys.Find(key);
    if (!word)
    {
        return -1;
    }
    const Node& node = m_nodes[m_entries[EntryOf(word)].node];
    return node.IsRoot() && node.first == EntryOf(word);
}

PyObject*
Relations::Roots() const
{
    return KeysOf(m_families[VIRTUAL].Nodes());
}

PyObject*
Relations::Edges() const
{
    Ref edges(PyList_New(0));
    for (uint32_t node = VIRTUAL + 1; edges && node < m_nodes.size(); node++)
    {
        const Family& family = m_families[node];
        for (size_t place = 0; place < family.Size(); place++)
        {
            Ref edge(PyTuple_Pack(2, KeyOf(node), KeyOf(family[place])));
            if (!edge || PyList_Append(edges.Get(), edge.Get()) < 0)
            {
                return nullptr;
            }
        }
    }
    return edges.Release();
}

int
Relations::Traverse(visitproc visit, void* arg) const
{
    Py_VISIT(m_keys.Dict());
    return 0;
}

void
Relations::Clear()
{
    const Ref keys = m_keys.Release();
    Vector<Node> nodes(1);
    std::swap(nodes, m_nodes);
    m_families.clear();
    m_families.emplace_back();
    m_entries.clear();
    m_freeNodes.clear();
    m_freeEntry = NONE;
}

bool
Relations::IsBusy() const
{
    if (m_isBusy)
    {
        PyErr_SetString(PyExc_RuntimeError, "The graph is being changed; it cannot change now");
    }
    return m_isBusy;
}

Relation
Relations::CompareFully(const Node& one, const Node& other)
{
    if (!one.box.IsMissing() && !other.box.IsMissing())
    {
        return one.box.To(other.box);
    }
    const bool isCovered = Covers(other, one);
    const bool covers = Covers(one, other);
    return m_hasFailed ? OTHER
                       : static_cast<Relation>((isCovered ? SUBSET : 0) | (covers ? SUPERSET : 0));
}

bool
Relations::Covers(const Node& general, const Node& special)
{
    if (m_hasFailed)
    {
        return false;
    }
    Ref module(PyImport_ImportModule("pysim.filters.covering"));
    Ref covers(module ? PyObject_GetAttrString(module.Get(), "covers") : nullptr);
    Ref answer(covers ? PyObject_CallFunctionObjArgs(
                            covers.Get(), general.filter.Get(), special.filter.Get(), nullptr)
                      : nullptr);
    const int isTrue = answer ? PyObject_IsTrue(answer.Get()) : -1;
    m_hasFailed = isTrue < 0;
    return isTrue > 0;
}

void
Relations::Connect(uint32_t parent, uint32_t child)
{
    Family& family = m_families[parent];
    family.Insert(PlaceOf(family, m_nodes[child].number), child, m_nodes[child].box.GetOutline());
    m_nodes[child].parents.push_back(parent);
}

void
Relations::ConnectAll(uint32_t parent, const Nodes& children)
{
    Family merged;
    Family& family = m_families[parent];
    size_t place = 0;
    for (const uint32_t child : children)
    {
        const size_t end = PlaceOf(family, m_nodes[child].number);
        while (place < end)
        {
            merged.Append(family, place++);
        }
        merged.Append(child, m_nodes[child].box.GetOutline());
        m_nodes[child].parents.push_back(parent);
    }
    while (place < family.Size())
    {
        merged.Append(family, place++);
    }
    std::swap(family, merged);
}

void
Relations::Disconnect(uint32_t parent, uint32_t child)
{
    Family& family = m_families[parent];
    family.Erase(PlaceOf(family, m_nodes[child].number));
    RemoveParent(child, parent);
}

void
Relations::RemoveParent(uint32_t child, uint32_t parent)
{
    Nodes& parents = m_nodes[child].parents;
    parents.erase(std::find(parents.begin(), parents.end(), parent));
}

void
Relations::Combine(uint32_t node, uint32_t into)
{
    for (uint32_t entry = m_nodes[node].first; entry != NONE;)
    {
        const uint32_t next = m_entries[entry].next;
        Link(entry, into);
        entry = next;
    }
    ReleaseNode(node);
    Renumber(into);
}

void
Relations::SortByNumber(Nodes& nodes) const
{
    std::sort(nodes.begin(), nodes.end(), [this](uint32_t a, uint32_t b) {
        return m_nodes[a].number < m_nodes[b].number;
    });
}

uint32_t
Relations::AcquireNode()
{
    if (m_freeNodes.empty())
    {
        m_nodes.emplace_back();
        m_families.emplace_back();
        return static_cast<uint32_t>(m_nodes.size() - 1);
    }
    const uint32_t node = m_freeNodes.back();
    m_freeNodes.pop_back();
    return node;
}

void
Relations::ReleaseNode(uint32_t node)
{
    m_nodes[node] = Node();
    m_families[node] = Family();
    m_freeNodes.push_back(node);
}

uint32_t
Relations::AcquireEntry(uint32_t node)
{
    uint32_t entry = m_freeEntry;
    if (entry == NONE)
    {
        entry = static_cast<uint32_t>(m_entries.size());
        m_entries.emplace_back();
    }
    else
    {
        m_freeEntry = m_entries[entry].next;
    }
    m_entries[entry] = {nullptr, 0, node, NONE, NONE};
    return entry;
}

void
Relations::ReleaseEntry(uint32_t entry)
{
    m_entries[entry].next = m_freeEntry;
    m_freeEntry = entry;
}

void
Relations::Link(uint32_t entry, uint32_t node)
{
    uint32_t previous = m_nodes[node].last;
    while (previous != NONE && m_entries[previous].number > m_entries[entry].number)
    {
        previous = m_entries[previous].previous;
    }
    uint32_t& link = previous == NONE ? m_nodes[node].first : m_entries[previous].next;
    const uint32_t next = std::exchange(link, entry);
    (next == NONE ? m_nodes[node].last : m_entries[next].previous) = entry;
    m_entries[entry].node = node;
    m_entries[entry].previous = previous;
    m_entries[entry].next = next;
    if (!m_nodes[node].number)
    {
        m_nodes[node].number = m_entries[entry].number;
    }
}

void
Relations::Unlink(uint32_t entry)
{
    const auto [key, number, node, previous, next] = m_entries[entry];
    (previous == NONE ? m_nodes[node].first : m_entries[previous].next) = next;
    (next == NONE ? m_nodes[node].last : m_entries[next].previous) = previous;
}

void
Relations::Renumber(uint32_t node)
{
    const uint64_t number = m_entries[m_nodes[node].first].number;
    if (number == m_nodes[node].number)
    {
        return;
    }
    const Nodes parents = m_nodes[node].parents;
    for (const uint32_t parent : parents)
    {
        Disconnect(parent, node);
    }
    m_nodes[node].number = number;
    for (const uint32_t parent : parents)
    {
        Connect(parent, node);
    }
}

size_t
Relations::PlaceOf(const Family& family, uint64_t number) const
{
    size_t low = 0;
    size_t high = family.Size();
    // The newest mostly is what is looked for.
    if (high && m_nodes[family[high - 1]].number < number)
    {
        return high;
    }
    while (low < high)
    {
        const size_t middle = (low + high) / 2;
        if (m_nodes[family[middle]].number < number)
        {
            low = middle + 1;
        }
        else
        {
            high = middle;
        }
    }
    return low;
}

PyObject*
Relations::KeyOf(uint32_t node) const
{
    return m_entries[m_nodes[node].first].key;
}

PyObject*
Relations::KeysOf(const Nodes& nodes) const
{
    PyObject* keys = PyList_New(nodes.size());
    for (size_t place = 0; keys && place < nodes.size(); place++)
    {
        PyList_SET_ITEM(keys, place, Py_NewRef(KeyOf(nodes[place])));
    }
    return keys;
}

} // namespace pysim
