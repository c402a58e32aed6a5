#include "common/slurm/snapshot_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gpuadvise {
namespace {

template <typename T, typename Key>
void Sort(std::vector<T>& table, Key T::*key) {
  const auto less = [key](const T& a, const T& b) { return a.*key < b.*key; };
  if (!std::is_sorted(table.begin(), table.end(), less)) {
    std::stable_sort(table.begin(), table.end(), less);
  }
}

template <typename T, typename Key>
Result<void> Unique(const std::vector<T>& table, Key T::*key, std::string_view noun) {
  const auto twice = std::adjacent_find(table.begin(), table.end(),
                                        [key](const T& a, const T& b) { return a.*key == b.*key; });
  if (twice == table.end()) return {};
  return BadInput(
      fmt::format("The snapshot has {} {} twice; each may be there once.", noun, (*twice).*key));
}

template <typename T, typename Key>
void KeepFirst(std::vector<T>& table, Key T::*key, std::string_view noun, LeftOut& left_out) {
  const auto same = [key](const T& a, const T& b) { return a.*key == b.*key; };
  auto twice = std::adjacent_find(table.begin(), table.end(), same);
  if (twice == table.end()) return;
  const std::string why =
      fmt::format("{} {} is there twice; the first counts", noun, (*twice).*key);
  const size_t before = table.size();
  table.erase(std::unique(twice, table.end(), same), table.end());
  for (size_t i = table.size(); i < before; ++i) left_out.Add(why);
}

}  // namespace

void LeftOut::Add(std::string why) {
  if (records++ == 0) first = std::move(why);
}

void LeftOut::Add(LeftOut more) {
  if (records == 0) first = std::move(more.first);
  records += more.records;
}

std::string LeftOut::InWords() const {
  if (records == 0) return "";
  return fmt::format("{} left out: {}",
                     records == 1 ? "a record is" : fmt::format("{} records are", records), first);
}

void SortCanonically(Snapshot& snapshot) {
  Sort(snapshot.nodes, &Node::name);
  Sort(snapshot.jobs, &Job::id);
  Sort(snapshot.partitions, &Partition::name);
  Sort(snapshot.reservations, &Reservation::name);
  Sort(snapshot.associations, &Association::id);
  Sort(snapshot.qos, &Qos::name);
  Sort(snapshot.config.licenses, &License::name);
}

void DropDuplicates(Snapshot& snapshot, LeftOut& left_out) {
  KeepFirst(snapshot.nodes, &Node::name, "node", left_out);
  KeepFirst(snapshot.jobs, &Job::id, "job", left_out);
  KeepFirst(snapshot.partitions, &Partition::name, "partition", left_out);
  KeepFirst(snapshot.reservations, &Reservation::name, "reservation", left_out);
  KeepFirst(snapshot.associations, &Association::id, "association", left_out);
  KeepFirst(snapshot.qos, &Qos::name, "QOS", left_out);
}

Result<void> CheckUnique(const Snapshot& snapshot) {
  Result<void> unique = Unique(snapshot.nodes, &Node::name, "node");
  if (unique) unique = Unique(snapshot.jobs, &Job::id, "job");
  if (unique) unique = Unique(snapshot.partitions, &Partition::name, "partition");
  if (unique) unique = Unique(snapshot.reservations, &Reservation::name, "reservation");
  if (unique) unique = Unique(snapshot.associations, &Association::id, "association");
  if (unique) unique = Unique(snapshot.qos, &Qos::name, "QOS");
  return unique;
}

}  // namespace gpuadvise
