#ifndef PYSIM_FILTERS_BOX_H
#define PYSIM_FILTERS_BOX_H

#include "memory.h"

#include "../python/ref.h"

#include <cstdint>

namespace pysim
{

/// How one filter lies to another: what is known are two bits.
enum Relation : uint8_t
{
    OTHER = 0,
    SUBSET = 1,   ///< the other covers it
    SUPERSET = 2, ///< it covers the other
    EQUAL = SUBSET | SUPERSET
};

/// Numbers for what boxes extend in: an attribute, where it is a number or where it is a string.
class Dimensions
{
  public:
    /// @return the number, or -1 with a Python error
    int64_t Of(PyObject* name, bool isText);

  private:
    Ref m_numbers; ///< dicts of names
    Ref m_texts;
    uint32_t m_count{0};
};

/**
 * What tells most boxes apart at a glance; small enough to stand in a row.
 *
 * Two boxes that pin one dimension to different values have nothing in common, and if one reaches
 * further on one side and the other on the other side, none covers the other.
 */
struct Outline
{
    static constexpr uint32_t NONE = 0;

    /// Of a pin: its dimension and some bits of its value's hash; NONE if there is no pin.
    uint32_t pin{NONE};
    /// A dimension, plus one, and the ends in it; or NONE.
    uint32_t dimension{NONE};
    double low{0};
    double high{0};

    static bool HaveOtherPins(uint32_t a, uint32_t b)
    {
        const uint32_t difference = a ^ b;
        return difference - 1 < HASH_END - 1;
    }

    bool LiesAside(const Outline& other) const
    {
        return dimension == other.dimension &&
               ((low < other.low && high < other.high) || (low > other.low && high > other.high));
    }

    static constexpr uint32_t HASH_END = 1 << 24;
    static constexpr uint32_t DIMENSIONS_END = 255; ///< of pins
};

/**
 * A conjunction that allows one interval in each of its dimensions, and surely some event.
 *
 * An interval has a low cut and a high cut, as in pysim/filters/regions.py.
 */
class Box
{
  public:
    Box() = default;

    /// @param sides a tuple of tuples: name, whether it is one value, low cut, high cut or None
    /// @return whether it went well; if not, a Python error is set
    bool Read(PyObject* sides, Dimensions& dimensions);

    /// Whether there is none: then the filter is no such conjunction.
    bool IsMissing() const
    {
        return m_sides.empty();
    }

    const Outline& GetOutline() const
    {
        return m_outline;
    }

    Relation To(const Box& other) const;

  private:
    /// A place between values: a number, what remains of it, and the side of it; or a string.
    struct Cut
    {
        bool Read(PyObject* object);
        /// Negative, zero or positive.
        int Compare(const Cut& other, bool isText) const;

        double near; ///< of a string 0, where there is no end infinity
        union {
            int64_t rest;   ///< twice what remains, plus one above the number
            PyObject* text; ///< owned by the sides that it was read from
        };
    };

    struct Side
    {
        bool Read(PyObject* side, Dimensions& dimensions);
        uint32_t Pin() const;

        Cut low;
        Cut high;
        uint32_t dimension;
        bool isText;
        bool isPoint;
    };

    void Draw();

    Vector<Side> m_sides; ///< by dimension
    Outline m_outline;
    Ref m_source;
};

} // namespace pysim

#endif
