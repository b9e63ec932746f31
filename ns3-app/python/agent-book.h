#ifndef PYSIM_AGENT_BOOK_H
#define PYSIM_AGENT_BOOK_H

#include "ref.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace pysim
{

/**
 * What one agent handed to the network and took from it, entered where Python is left and entered.
 *
 * It knows nothing of the application's counters (FlowBook), or the comparison of the two would be
 * worth nothing.
 */
class AgentBook
{
  public:
    void EnterSent(uint32_t target, PyObject* frame);
    void EnterReceived(PyObject* frame);
    /// @return ({type: [messages, bytes]} sent, the same received, {target: checksum of all sent})
    PyObject* Read() const;

  private:
    struct Count
    {
        uint64_t messages{0};
        uint64_t bytes{0};

        void Add(uint64_t size)
        {
            messages++;
            bytes += size;
        }
    };

    /// Both sides of a type together: what was received has often just been sent on.
    struct Entry
    {
        long type;
        Count sent;
        Count received;
    };

    Entry& Find(PyObject* frame);
    Ref ReadSide(Count Entry::* side) const;

    std::vector<Entry> m_entries; ///< a run has few types, so looking at all of them is quick
    std::vector<std::pair<uint32_t, uint32_t>> m_contents; ///< a broker sends to few others
};

} // namespace pysim

#endif
