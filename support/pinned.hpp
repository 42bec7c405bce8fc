// Bases of classes that are neither copied nor moved.
#pragma once

namespace espalier {

// Others refer to the object.
class Pinned {
 public:
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  Pinned(Pinned&&) = delete;
  Pinned& operator=(Pinned&&) = delete;

 protected:
  Pinned() = default;
  ~Pinned() = default;
};

// A base by which objects are used and destroyed.
class Interface {
 public:
  Interface() = default;
  Interface(const Interface&) = delete;
  Interface& operator=(const Interface&) = delete;
  Interface(Interface&&) = delete;
  Interface& operator=(Interface&&) = delete;
  virtual ~Interface() = default;
};

}  // namespace espalier
