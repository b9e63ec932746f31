#ifndef PYSIM_FILTERS_SCREEN_H
#define PYSIM_FILTERS_SCREEN_H

#include "attributes.h"

namespace pysim
{

/**
 * Conjunctions of comparisons, each of which many events fulfil: few events fulfil all of them.
 *
 * The numbers that an attribute may have are divided into a few intervals, and each has a bitmap:
 * a bit for every subscription that nothing in the interval fulfils. An event rules out what is in
 * one bitmap of each attribute; what is left has to be evaluated. Where the intervals begin follows
 * the subscriptions: they are divided anew when as many have come as there are places.
 *
 * All subscriptions of a screen have something in common that an event needs before it is worth a
 * look: a number of the same attribute, their home, or one equality, their door.
 */
class Screen : public Allocated
{
  public:
    /// @param home that of its subscriptions, Attributes::NONE if they have a door
    explicit Screen(uint32_t home)
        : m_home(home)
    {
    }

    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    /// The attribute where a subscription is at home, or Attributes::NONE if no screen would help.
    static uint32_t HomeOf(const Subscription* subscription);
    /// The equality that leads to a subscription and has to be fulfilled, as has a condition on a
    /// number besides; nullptr if no screen would help.
    static const Leaf* DoorOf(const Subscription* subscription);

    uint32_t Home() const
    {
        return m_home;
    }

    bool IsEmpty() const
    {
        return m_subscriptions.empty();
    }

    void Add(Subscription* subscription);
    void Remove(Subscription* subscription);
    /// Reach what an event does not rule out; `match` marks the attributes that it has.
    void Collect(const Attributes& attributes, uint64_t match, Reached& reached) const;

  private:
    static constexpr uint32_t INTERVALS = 16;
    static constexpr uint32_t TEXT = INTERVALS; ///< the bitmap for values that are no numbers
    static constexpr uint32_t MISSING = INTERVALS + 1;
    static constexpr uint32_t ROWS = INTERVALS + 2;
    static constexpr uint32_t MOST = 32;    ///< columns: so much memory a subscription may cost
    static constexpr uint32_t LEAST = 8;    ///< places
    static constexpr uint32_t DRAWN = 1024; ///< subscriptions that tell where to divide
    static constexpr uint32_t WORD = 64;    ///< bits
    static constexpr uint32_t SECTION = 16; ///< words that are looked at together

    /// The bitmaps of one attribute.
    struct Column
    {
        uint32_t IntervalOf(double number) const;
        uint32_t RowOf(const Attribute& attribute, uint64_t match) const;

        uint32_t attribute;
        double starts[INTERVALS - 1]; ///< of all intervals but the first
        Vector<uint64_t> words;       ///< row by row
    };

    /// The ends of what some subscriptions ask of an attribute.
    struct Sample
    {
        uint32_t attribute;
        Vector<double> ends;
    };

    /// Begin anew, with columns for the attributes that matter now.
    void Divide();
    Vector<Sample> DrawSamples() const;
    void AddColumn(Sample& sample);
    /// Set all bits of a subscription, or clear them.
    void Mark(const Subscription* subscription, bool isSet);
    void MarkLeaf(Column& column, const Leaf* leaf, uint32_t place, bool isSet) const;
    void CollectSection(const uint64_t* const* rows,
                        size_t count,
                        uint32_t first,
                        Reached& reached) const;

    uint32_t m_home;
    uint32_t m_places{0};
    uint32_t m_words{0}; ///< of a row: a power of two
    uint32_t m_added{0}; ///< since the last division
    Vector<Subscription*> m_subscriptions;
    Vector<Column> m_columns;
};

} // namespace pysim

#endif
