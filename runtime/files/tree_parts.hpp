// Files of which each rank has its own, in one message: how a folder is divided among ranks, and
// how those of ranks come together in one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/files/file_tree.hpp"

namespace espalier::runtime {

// What a name on a rank refers to, with all bytes of its files: holes are not distinguished.
struct NamedFiles {
  bool is_folder = false;
  FileTree tree{};  // of a folder, its contents; otherwise the file alone, under its own name

  bool operator==(const NamedFiles&) const = default;
};

// Symbolic links in `name` itself are followed. Throws InputError as scan_files.
NamedFiles scan_name(const std::string& name);

// Serialisation. named_files_from_text throws InputError.
std::string to_text(std::span<const NamedFiles> parts);
std::vector<NamedFiles> named_files_from_text(const std::string& text);

// The contents of a folder as one part for each rank, in their order: whole files, and the folders
// that lead to them. As many files as ranks: one each. Otherwise a file belongs to the rank whose
// share of all bytes its middle lies in. Links and empty folders stay with the file before them.
// shares: one per rank, not negative, of any sum but 0.
std::vector<FileTree> assigned_to_ranks(const FileTree& folder, std::span<const double> shares);

// All ranks' files in one folder. places: where each rank's are in it, a relative path: of a
// folder, or of the file itself unless it ends with a slash; empty: in the folder itself. Folders
// of one path become one. Throws InputError where two ranks have a file of one path, and for a
// place outside the folder.
FileTree joined(std::span<const NamedFiles> parts, std::span<const std::string> places);

}  // namespace espalier::runtime
