#ifndef PYSIM_FILTERS_ORDERED_H
#define PYSIM_FILTERS_ORDERED_H

#include "subscription.h"

#include <algorithm>

namespace pysim
{

/// A value that some predicates compare with.
struct Threshold
{
    int Compare(const Threshold& other) const
    {
        return value.Get().Compare(other.value.Get());
    }

    const Value& High() const
    {
        return value.Get();
    }

    Operand value;
    Posting posting;
};

/// A range that some predicates ask for; ranges are in the order of their low ends.
struct Range
{
    int Compare(const Range& other) const
    {
        if (const int order = low.Get().Compare(other.low.Get()))
        {
            return order;
        }
        if (const int order = high.Get().Compare(other.high.Get()))
        {
            return order;
        }
        return (lowClosed - other.lowClosed) * 2 + (highClosed - other.highClosed);
    }

    const Value& High() const
    {
        return high.Get();
    }

    bool Contains(const Value& value) const
    {
        return value.Compare(low.Get()) >= !lowClosed && value.Compare(high.Get()) <= -!highClosed;
    }

    Operand low;
    Operand high;
    bool lowClosed;
    bool highClosed;
    Posting posting;
};

/// Entries in order, in blocks of limited size, so that a change moves few of them.
template <class Entry> class Ordered
{
  public:
    bool IsEmpty() const
    {
        return m_blocks.empty();
    }

    void Add(Entry&& entry, uintptr_t item)
    {
        if (m_blocks.empty())
        {
            m_blocks.emplace_back();
        }
        auto block = std::min(BlockOf(m_blocks, entry), m_blocks.end() - 1);
        auto place = PlaceIn(block->entries, entry);
        if (place == block->entries.end() || place->Compare(entry) != 0)
        {
            place = block->entries.insert(place, std::move(entry));
            if (block->entries.size() > LIMIT)
            {
                const size_t index = place - block->entries.begin();
                block = Split(block);
                const bool isLater = index >= block->entries.size();
                place =
                    block[isLater].entries.begin() + index - (isLater ? block->entries.size() : 0);
            }
            else if (block->entries.size() == 1 || place->High().Compare(block->reach) > 0)
            {
                block->reach = place->High();
            }
        }
        place->posting.Add(item);
    }

    void Remove(const Entry& entry, uintptr_t item)
    {
        auto block = BlockOf(m_blocks, entry);
        if (block == m_blocks.end())
        {
            return;
        }
        auto place = PlaceIn(block->entries, entry);
        if (place != block->entries.end() && place->Compare(entry) == 0)
        {
            place->posting.Remove(item);
            if (!place->posting.IsEmpty())
            {
                return;
            }
            block->entries.erase(place);
        }
        if (!block->entries.empty())
        {
            block->MendReach();
            return;
        }
        m_blocks.erase(block);
        if (m_blocks.empty())
        {
            m_blocks.shrink_to_fit();
        }
    }

    /// What hangs at an entry, or nullptr.
    const Posting* Find(const Entry& entry) const
    {
        const auto block = BlockOf(m_blocks, entry);
        if (block == m_blocks.end())
        {
            return nullptr;
        }
        const auto place = PlaceIn(block->entries, entry);
        return place != block->entries.end() && place->Compare(entry) == 0 ? &place->posting
                                                                           : nullptr;
    }

    size_t Bytes() const
    {
        size_t bytes = m_blocks.capacity() * sizeof(Block);
        for (const Block& block : m_blocks)
        {
            bytes += block.entries.capacity() * sizeof(Entry);
        }
        return bytes;
    }

    /// Reach the entries before the first one that is not `isBefore`, or all the others.
    template <class IsBefore> void Collect(IsBefore isBefore, bool before, Reached& reached) const
    {
        auto isBlockBefore = [&](const Block& block) {
            return isBefore(block.entries.back());
        };
        auto middle = std::partition_point(m_blocks.begin(), m_blocks.end(), isBlockBefore);
        for (auto block = before ? m_blocks.begin() : middle;
             block != (before ? middle : m_blocks.end());
             block++)
        {
            auto first = block->entries.begin();
            if (block == middle)
            {
                first = std::partition_point(first, block->entries.end(), isBefore);
            }
            Append(first, block->entries.end(), reached);
        }
        if (before && middle != m_blocks.end())
        {
            auto first = middle->entries.begin();
            Append(first, std::partition_point(first, middle->entries.end(), isBefore), reached);
        }
    }

    /// Reach the ranges that contain a value; a block that does not reach up to it is left out.
    void CollectContaining(const Value& value, Reached& reached) const
    {
        for (const Block& block : m_blocks)
        {
            if (block.entries.front().low.Get().Compare(value) > 0)
            {
                return;
            }
            if (block.reach.Compare(value) < 0)
            {
                continue;
            }
            for (const Entry& entry : block.entries)
            {
                if (entry.Contains(value))
                {
                    entry.posting.AppendTo(reached);
                }
            }
        }
    }

  private:
    static constexpr size_t LIMIT = 128;

    struct Block
    {
        void MendReach()
        {
            reach = entries.front().High();
            for (const Entry& entry : entries)
            {
                if (entry.High().Compare(reach) > 0)
                {
                    reach = entry.High();
                }
            }
        }

        Vector<Entry> entries;
        Value reach; ///< the highest end in here; an entry owns it
    };

    using Blocks = Vector<Block>;

    /// The block that has the entry if any has it.
    template <class SomeBlocks> static auto BlockOf(SomeBlocks& blocks, const Entry& entry)
    {
        return std::partition_point(blocks.begin(), blocks.end(), [&](const Block& block) {
            return !block.entries.empty() && block.entries.back().Compare(entry) < 0;
        });
    }

    template <class Entries> static auto PlaceIn(Entries& entries, const Entry& entry)
    {
        return std::partition_point(entries.begin(), entries.end(), [&](const Entry& other) {
            return other.Compare(entry) < 0;
        });
    }

    /// @return the first of the two blocks
    typename Blocks::iterator Split(typename Blocks::iterator block)
    {
        const size_t index = block - m_blocks.begin();
        m_blocks.emplace(block + 1);
        block = m_blocks.begin() + index;
        const auto middle = block->entries.begin() + block->entries.size() / 2;
        block[1].entries.assign(std::make_move_iterator(middle),
                                std::make_move_iterator(block->entries.end()));
        block->entries.erase(middle, block->entries.end());
        block[0].MendReach();
        block[1].MendReach();
        return block;
    }

    template <class Iterator> static void Append(Iterator first, Iterator end, Reached& reached)
    {
        for (; first != end; first++)
        {
            first->posting.AppendTo(reached);
        }
    }

    Blocks m_blocks;
};

} // namespace pysim

#endif
