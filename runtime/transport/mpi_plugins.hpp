// Keeps MPI's plugins in memory.
#pragma once

namespace espalier::runtime {

// Call it before MPI_Finalize. Open MPI 4.1.4 unloads its PMIx plugin before it ends its thread for
// events: in about one process of 500 that thread still had an event for a function of the plugin,
// which was not there any more (docs/runtime.md, "Timeouts"). Does nothing for MPIs without that
// plugin.
void keep_plugins_loaded() noexcept;

}  // namespace espalier::runtime
