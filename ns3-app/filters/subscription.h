#ifndef PYSIM_FILTERS_SUBSCRIPTION_H
#define PYSIM_FILTERS_SUBSCRIPTION_H

#include "memory.h"
#include "value.h"

#include <cstdint>

namespace pysim
{

/// What a leaf asks; pysim/filters/program.py knows the same numbers.
enum class Operator : uint8_t
{
    EQ,
    NE,
    LT,
    LE,
    GT,
    GE,
    PREFIX,
    SUFFIX,
    CONTAINS,
    EXISTS,
    FROM,  ///< the closed low end of a range, whose high end is the next leaf
    ABOVE, ///< the open low end of a range, whose high end is the next leaf
    LAST = ABOVE
};

/// A predicate in a filter, or one end of a range, and which leaf to ask next.
struct Leaf
{
    static constexpr uint32_t ACCEPT = UINT32_MAX;
    static constexpr uint32_t REJECT = UINT32_MAX - 1;

    bool IsRange() const
    {
        return op == Operator::FROM || op == Operator::ABOVE;
    }

    Value value; ///< its string is owned by the subscription
    uint32_t attribute;
    uint32_t onTrue;
    uint32_t onFalse;
    Operator op;
    bool leads; ///< whether the engine finds the filter by it
};

/// What a predicate asks of its attribute: one leaf, or both ends of a range.
struct Condition
{
    explicit Condition(const Leaf* leaf)
        : value(leaf->value),
          high(leaf->IsRange() ? leaf[1].value : Value()),
          op(leaf->op),
          highOp(leaf->IsRange() ? leaf[1].op : leaf->op)
    {
    }

    Value value; ///< borrowed, as is the next
    Value high;
    Operator op;
    Operator highOp;
};

/// A filter under its key: leaves that end in ACCEPT or REJECT, always going forward.
struct Subscription
{
    uintptr_t output; ///< what to hand out when it matches; see Item
    uint32_t count : 31;
    uint32_t isDecided : 1; ///< whether one fulfilled leaf that leads to it is enough
    uint32_t place;         ///< in a screen, if it is in one
    Leaf leaves[1];
};

/**
 * What hangs at a predicate, in one word: a subscription that has to be evaluated, a screen with
 * many of them, or what is handed out at once. The latter is a key, or a frozenset of the key where
 * its hash is slow.
 */
struct Item
{
    static constexpr uintptr_t DECIDED = 1;
    static constexpr uintptr_t HELD = 2;   ///< a frozenset stands for its only element
    static constexpr uintptr_t SCREEN = 2; ///< the same bit where nothing is decided
    static constexpr uintptr_t LIST = 4;   ///< of Posting alone
    static constexpr uintptr_t FLAGS = 7;

    static uintptr_t Of(const Subscription* subscription)
    {
        return subscription->isDecided ? subscription->output | DECIDED
                                       : reinterpret_cast<uintptr_t>(subscription);
    }

    static PyObject* Object(uintptr_t item)
    {
        return reinterpret_cast<PyObject*>(item & ~FLAGS);
    }
};

/// The items of one predicate; one alone needs no memory of its own.
class Posting
{
  public:
    Posting() = default;

    Posting(Posting&& other) noexcept
        : m_word(std::exchange(other.m_word, 0))
    {
    }

    Posting& operator=(Posting&& other) noexcept
    {
        std::swap(m_word, other.m_word);
        return *this;
    }

    ~Posting()
    {
        if (m_word & Item::LIST)
        {
            PyMem_Free(Items());
        }
    }

    bool IsEmpty() const
    {
        return m_word == 0;
    }

    void Add(uintptr_t item)
    {
        if (!m_word)
        {
            m_word = item;
            return;
        }
        if (!(m_word & Item::LIST))
        {
            List* list = static_cast<List*>(Allocate(Bytes(2)));
            *list = {1, 2, {m_word}};
            m_word = reinterpret_cast<uintptr_t>(list) | Item::LIST;
        }
        List* list = Items();
        if (list->count == list->capacity)
        {
            list = static_cast<List*>(PyMem_Realloc(list, Bytes(2 * list->capacity)));
            if (!list)
            {
                throw std::bad_alloc();
            }
            list->capacity *= 2;
            m_word = reinterpret_cast<uintptr_t>(list) | Item::LIST;
        }
        list->items[list->count++] = item;
    }

    /// Take out an item, if it is there; the latest is found first.
    void Remove(uintptr_t item)
    {
        if (!(m_word & Item::LIST))
        {
            m_word = m_word == item ? 0 : m_word;
            return;
        }
        List* list = Items();
        for (uint32_t place = list->count; place-- > 0;)
        {
            if (list->items[place] == item)
            {
                list->items[place] = list->items[--list->count];
                break;
            }
        }
        if (list->count == 1)
        {
            m_word = list->items[0];
            PyMem_Free(list);
        }
    }

    /// Put one item in front and take out all that `isGathered`, of which there is one at least.
    template <class IsGathered> void Gather(IsGathered isGathered, uintptr_t item)
    {
        if (!(m_word & Item::LIST))
        {
            m_word = item;
            return;
        }
        List* list = Items();
        uintptr_t* end = std::remove_if(list->items, list->items + list->count, isGathered);
        list->count = static_cast<uint32_t>(end - list->items) + 1;
        *end = list->items[0];
        list->items[0] = item;
        if (list->count == 1)
        {
            m_word = item;
            PyMem_Free(list);
        }
    }

    uint32_t Size() const
    {
        return m_word & Item::LIST ? Items()->count : m_word != 0;
    }

    const uintptr_t* begin() const
    {
        return m_word & Item::LIST ? Items()->items : &m_word;
    }

    const uintptr_t* end() const
    {
        return begin() + Size();
    }

    /// The item, where there is one alone.
    uintptr_t Only() const
    {
        return m_word;
    }

    template <class Sequence> void AppendTo(Sequence& items) const
    {
        if (m_word & Item::LIST)
        {
            items.Push(Items()->items, Items()->count);
        }
        else if (m_word)
        {
            items.Push(m_word);
        }
    }

  private:
    struct List
    {
        uint32_t count;
        uint32_t capacity;
        uintptr_t items[1];
    };

    static size_t Bytes(uint32_t capacity)
    {
        return sizeof(List) + (capacity - 1) * sizeof(uintptr_t);
    }

    List* Items() const
    {
        return reinterpret_cast<List*>(m_word & ~Item::FLAGS);
    }

    uintptr_t m_word{0};
};

/// The items that an event has reached, some perhaps more than once.
using Reached = Sequence<uintptr_t, 64>;

} // namespace pysim

#endif
