#ifndef PYSIM_TCP_PROFILE_H
#define PYSIM_TCP_PROFILE_H

#include <string>

namespace pysim
{

/**
 * Sets ns-3's defaults for a simulation that is about to be built.
 *
 *   linux   what a Linux host does: CUBIC, timestamps, SACK, window scaling, 1448-byte segments,
 *           an initial window of ten, delayed ACKs of 40 ms, a least RTO of 200 ms
 *   lean    the same without timestamps and SACK, for speed; 12 bytes a segment fewer
 *   stock   ns-3's own defaults, with its queue discs; only for comparison
 *
 * Checksums are computed only where somebody may check them: in captures. No link of ns-3 changes a
 * byte, it loses packets whole.
 *
 * @return whether the profile wants queue discs above the devices
 */
bool ApplyTcpProfile(const std::string& name, bool isCaptured);

} // namespace pysim

#endif
