// Keeps MPI's plugins in memory.
#pragma once

namespace espalier::runtime {

// Call it before MPI_Finalize, in which Open MPI 4.1.4 unloads its PMIx plugin before it ends its
// thread for events: in one run of some 270 that thread still called a function of the plugin. Does
// nothing for MPIs without that plugin.
void keep_plugins_loaded() noexcept;

}  // namespace espalier::runtime
