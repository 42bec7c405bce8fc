// Common functions of the formats, and the functions of the registry (formats.cpp). Not installed.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platforms/formats/formats.hpp"

namespace espalier::platforms {

// The registry's entry called `name`. Throws InputError, with the nearest name, if there is none.
const FormatEntry& format_named(std::string_view name);
// The format detected from `text`; null: none.
const FormatEntry* detected_format(std::string_view text);

// The platform of the measurements in the files of `folder`. Throws InputError.
ReadResult read_folder(const std::string& folder, const ReadOptions& options);

// The name of a platform whose text has none: the option's, otherwise the file's stem.
std::string default_name(const std::string& file, const ReadOptions& options);

// Throws InputError that names the first property of `platform` that an edge list or matrix cannot
// represent. `format` is "an edge list" or "a matrix".
void require_plain(const Platform& platform, std::string_view format);

bool detects_json(std::string_view text);
ReadResult parse_json_format(std::string_view text, const std::string& file,
                             const ReadOptions& options);
std::string write_json_format(const Platform& platform);

// The value of "shared" in the platform file, on one line, for formats that store it as text; empty
// without shared links. Reading throws InputError (without a file).
std::string write_shared_links(const Platform& platform);
void read_shared_links(std::string_view text, PlatformBuilder& builder);

bool detects_edges(std::string_view text);
ReadResult parse_edges(std::string_view text, const std::string& file, const ReadOptions& options);
std::string write_edges(const Platform& platform);

bool detects_matrix(std::string_view text);
ReadResult parse_matrix(std::string_view text, const std::string& file, const ReadOptions& options);
std::string write_matrix(const Platform& platform);

bool detects_skyplane(std::string_view text);
ReadResult parse_skyplane(std::string_view text, const std::string& file,
                          const ReadOptions& options);

bool detects_tiers(std::string_view text);
ReadResult parse_tiers(std::string_view text, const std::string& file, const ReadOptions& options);

bool detects_simgrid(std::string_view text);
ReadResult parse_simgrid(std::string_view text, const std::string& file,
                         const ReadOptions& options);

std::string write_simgrid(const Platform& platform);

bool detects_graphml(std::string_view text);
ReadResult parse_graphml(std::string_view text, const std::string& file,
                         const ReadOptions& options);

std::string write_graphml(const Platform& platform);

bool detects_dot(std::string_view text);
ReadResult parse_dot(std::string_view text, const std::string& file, const ReadOptions& options);
std::string write_dot(const Platform& platform);

bool detects_ibnetdiscover(std::string_view text);
ReadResult parse_ibnetdiscover(std::string_view text, const std::string& file,
                               const ReadOptions& options);

bool detects_mpigraph(std::string_view text);
ReadResult parse_mpigraph(std::string_view text, const std::string& file,
                          const ReadOptions& options);

bool detects_nvbandwidth(std::string_view text);
ReadResult parse_nvbandwidth(std::string_view text, const std::string& file,
                             const ReadOptions& options);

bool detects_p2pbandwidth(std::string_view text);
ReadResult parse_p2pbandwidth(std::string_view text, const std::string& file,
                              const ReadOptions& options);

bool detects_starpu(std::string_view text);
ReadResult parse_starpu(std::string_view text, const std::string& file, const ReadOptions& options);

bool detects_nvidiatopo(std::string_view text);
ReadResult parse_nvidiatopo(std::string_view text, const std::string& file,
                            const ReadOptions& options);

bool detects_gpufabric(std::string_view text);
ReadResult parse_gpufabric(std::string_view text, const std::string& file,
                           const ReadOptions& options);
bool detects_iperf3(std::string_view text);
void gather_iperf3(std::string_view text, const std::string& file, const ReadOptions& options,
                   PairMeasurements& into);
ReadResult parse_iperf3(std::string_view text, const std::string& file, const ReadOptions& options);

bool detects_osu(std::string_view text);
void gather_osu(std::string_view text, const std::string& file, const ReadOptions& options,
                PairMeasurements& into);
ReadResult parse_osu(std::string_view text, const std::string& file, const ReadOptions& options);

bool detects_slurm_conf(std::string_view text);
ReadResult parse_slurm_conf(std::string_view text, const std::string& file,
                            const ReadOptions& options);

bool detects_slurm_yaml(std::string_view text);
ReadResult parse_slurm_yaml(std::string_view text, const std::string& file,
                            const ReadOptions& options);

}  // namespace espalier::platforms
