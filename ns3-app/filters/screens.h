#ifndef PYSIM_FILTERS_SCREENS_H
#define PYSIM_FILTERS_SCREENS_H

#include "screen.h"

namespace pysim
{

/**
 * The screens of an engine, and the subscriptions that are in one or may come into one.
 *
 * Some are in the screen of an attribute of which they need a number, where no trigger is rare.
 * Others have an equality as their trigger, which is rare only as long as few share it: they hang
 * at it one by one, but where they are many, one screen with all of them hangs there instead.
 */
class Screens
{
  public:
    explicit Screens(Attributes& attributes)
        : m_attributes(attributes)
    {
    }

    Screens(const Screens&) = delete;
    Screens& operator=(const Screens&) = delete;

    /// @return whether it is one for screens; if not, it has to be found in another way
    bool Add(Subscription* subscription);
    bool Remove(Subscription* subscription);

    /// Reach what an event does not rule out, but for what hangs at equalities.
    void Collect(uint64_t match, Reached& reached) const
    {
        for (const auto& screen : m_atAttributes)
        {
            if (m_attributes[screen->Home()].match == match)
            {
                screen->Collect(m_attributes, match, reached);
            }
        }
    }

    void Clear();

  private:
    using List = Vector<std::unique_ptr<Screen>>;

    /// Items at one equality that are worth a screen: fewer are evaluated as fast.
    static constexpr uint32_t MANY = 32;

    void AddAtAttribute(Subscription* subscription, uint32_t home);
    void RemoveAtAttribute(Subscription* subscription, uint32_t home);
    List::iterator AtAttribute(uint32_t home);
    void AddAtEquality(Subscription* subscription, const Leaf* door);
    void RemoveAtEquality(Subscription* subscription, const Leaf* door);
    /// The screen that hangs at an equality, or nullptr.
    static Screen* AtEquality(const Posting* posting);
    /// Let a screen take the place of what hangs there, if that is worth it; else nullptr.
    Screen* Gather(Posting* posting);
    static void Drop(List& list, List::iterator screen);

    List m_atAttributes; // first: every match looks at it
    Attributes& m_attributes;
    List m_atEqualities;
};

} // namespace pysim

#endif
