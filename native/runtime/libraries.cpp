// Calls that uninstrumented C++ libraries make.
//
// libstdc++ reads files, and copies and compares the characters of strings, in
// its own shared object. Under an executor the slots of that object's global
// offset table that lead to functions with a model are made to lead to the
// model, so labels pass through. Only libraries of this kind are touched, only
// the table of the process that serves executions, and only once, before any
// of them runs; without an executor nothing is touched at all. The same is done
// to virtual functions of the library that the program calls by itself.
#include "libraries.h"

#include "model.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

using namespace sf;

namespace {

// Where the code of libraries is: their calls get sites of their own.
struct Code {
  uint64_t begin, end;
};
constexpr unsigned LibrariesMax = 8;
Code Libraries[LibrariesMax];
unsigned LibraryCount;

uint64_t siteOf(uint64_t Return) {
  uint64_t Offset = Return;
  for (unsigned I = 0; I < LibraryCount; ++I)
    if (Return >= Libraries[I].begin && Return < Libraries[I].end)
      Offset = Return - Libraries[I].begin;
  Offset = (Offset ^ Offset >> 33) * 0xff51afd7ed558ccdull;
  return Offset ^ Offset >> 33;
}

// A call that passes no labels in registers, and takes none back.
class LibraryCall {
public:
  explicit LibraryCall(void *Return) {
    __sf_tls.arg_token = nullptr;
    __sf_tls.site = siteOf((uint64_t)Return);
  }
  ~LibraryCall() { __sf_tls.ret_token = nullptr; }
  LibraryCall(const LibraryCall &) = delete;
  LibraryCall &operator=(const LibraryCall &) = delete;
};

} // namespace

#define SF_LIBRARY_CALLS(X)                                                                        \
  X(void *, memcpy, (void *A, const void *B, size_t N), (A, B, N))                                 \
  X(void *, memmove, (void *A, const void *B, size_t N), (A, B, N))                                \
  X(void *, memset, (void *A, int C, size_t N), (A, C, N))                                         \
  X(int, memcmp, (const void *A, const void *B, size_t N), (A, B, N))                              \
  X(void *, memchr, (const void *A, int C, size_t N), (A, C, N))                                   \
  X(size_t, strlen, (const char *A), (A))                                                          \
  X(int, strcmp, (const char *A, const char *B), (A, B))                                           \
  X(ssize_t, read, (int Fd, void *A, size_t N), (Fd, A, N))                                        \
  X(size_t, fread, (void *A, size_t N, size_t Count, FILE *S), (A, N, Count, S))                   \
  X(FILE *, fopen, (const char *Path, const char *Mode), (Path, Mode))                             \
  X(FILE *, fopen64, (const char *Path, const char *Mode), (Path, Mode))                           \
  X(int, fclose, (FILE * S), (S))                                                                  \
  X(void *, malloc, (size_t N), (N))                                                               \
  X(void, free, (void *A), (A))                                                                    \
  X(int, clock_gettime, (clockid_t Clock, struct timespec * Out), (Clock, Out))

#define SF_DEFINE_CALL(type, name, parameters, arguments)                                          \
  SF_API type __sf_model_##name parameters;                                                        \
  static type library_##name parameters {                                                          \
    if (!G.recording)                                                                              \
      return __sf_model_##name arguments;                                                          \
    LibraryCall Call(__builtin_return_address(0));                                                 \
    return __sf_model_##name arguments;                                                            \
  }
SF_LIBRARY_CALLS(SF_DEFINE_CALL)

namespace {

struct Lead {
  const char *name;
  void *to;
};
#define SF_LEAD(type, name, parameters, arguments) {#name, (void *)library_##name},
const Lead Leads[] = {SF_LIBRARY_CALLS(SF_LEAD)};

bool isFollowed(const char *Path) {
  const char *Slash = strrchr(Path, '/');
  const char *Name = Slash ? Slash + 1 : Path;
  return strncmp(Name, "libstdc++.so", 12) == 0 || strncmp(Name, "libc++.so", 9) == 0;
}

// What the dynamic section of one object says.
struct Tables {
  uint64_t base;
  const Elf64_Sym *symbols;
  const char *names;
  const Elf64_Rela *relocations[2];
  uint64_t counts[2];

  explicit Tables(const dl_phdr_info &Info) : Tables() {
    base = Info.dlpi_addr;
    for (unsigned I = 0; I < Info.dlpi_phnum; ++I)
      if (Info.dlpi_phdr[I].p_type == PT_DYNAMIC)
        for (auto *D = (const Elf64_Dyn *)(base + Info.dlpi_phdr[I].p_vaddr); D->d_tag; ++D)
          note(*D);
  }

private:
  Tables() : base(0), symbols(nullptr), names(nullptr), relocations{}, counts{} {}

  // glibc has added the base already, others have not.
  uint64_t address(const Elf64_Dyn &D) const {
    return D.d_un.d_ptr < base ? D.d_un.d_ptr + base : D.d_un.d_ptr;
  }

  void note(const Elf64_Dyn &D) {
    switch (D.d_tag) {
    case DT_SYMTAB:
      symbols = (const Elf64_Sym *)address(D);
      break;
    case DT_STRTAB:
      names = (const char *)address(D);
      break;
    case DT_RELA:
      relocations[0] = (const Elf64_Rela *)address(D);
      break;
    case DT_RELASZ:
      counts[0] = D.d_un.d_val / sizeof(Elf64_Rela);
      break;
    case DT_JMPREL:
      relocations[1] = (const Elf64_Rela *)address(D);
      break;
    case DT_PLTRELSZ:
      counts[1] = D.d_un.d_val / sizeof(Elf64_Rela);
      break;
    default:
      break;
    }
  }
};

void *leadOf(const Tables &T, const Elf64_Rela &R) {
  const unsigned Type = ELF64_R_TYPE(R.r_info);
  if (Type != R_X86_64_JUMP_SLOT && Type != R_X86_64_GLOB_DAT)
    return nullptr;
  const Elf64_Sym &Symbol = T.symbols[ELF64_R_SYM(R.r_info)];
  if (Symbol.st_shndx != SHN_UNDEF)
    return nullptr;
  for (const Lead &L : Leads)
    if (strcmp(T.names + Symbol.st_name, L.name) == 0)
      return L.to;
  return nullptr;
}

// Makes what the dynamic linker has locked writable for a while.
bool protect(const dl_phdr_info &Info, int Protection) {
  for (unsigned I = 0; I < Info.dlpi_phnum; ++I) {
    const Elf64_Phdr &P = Info.dlpi_phdr[I];
    if (P.p_type != PT_GNU_RELRO)
      continue;
    uint64_t Begin = (Info.dlpi_addr + P.p_vaddr) & ~4095ull;
    uint64_t End = (Info.dlpi_addr + P.p_vaddr + P.p_memsz) & ~4095ull;
    if (End > Begin && mprotect((void *)Begin, End - Begin, Protection) != 0)
      return false;
  }
  return true;
}

// A table that the linker has not locked may share its page with anything.
bool isLocked(const dl_phdr_info &Info, uint64_t Address) {
  for (unsigned I = 0; I < Info.dlpi_phnum; ++I) {
    const Elf64_Phdr &P = Info.dlpi_phdr[I];
    if (P.p_type == PT_GNU_RELRO && Address - (Info.dlpi_addr + P.p_vaddr) < P.p_memsz)
      return true;
  }
  return false;
}

int leadVirtually(dl_phdr_info *Info, size_t, void *) {
  for (VirtualLead &L : StandardInputLeads) {
    if (!L.slot || L.real || !isLocked(*Info, (uint64_t)L.slot) ||
        !protect(*Info, PROT_READ | PROT_WRITE))
      continue;
    L.real = *(void *const *)L.slot;
    *(void **)(uint64_t)L.slot = L.model;
    protect(*Info, PROT_READ);
  }
  return 0;
}

int lead(dl_phdr_info *Info, size_t, void *) {
  if (!Info->dlpi_name || !isFollowed(Info->dlpi_name) || LibraryCount == LibrariesMax)
    return 0;
  Tables T(*Info);
  if (!T.symbols || !T.names || !protect(*Info, PROT_READ | PROT_WRITE))
    return 0;
  for (unsigned Kind = 0; Kind < 2; ++Kind)
    for (uint64_t I = 0; T.relocations[Kind] && I < T.counts[Kind]; ++I)
      if (void *To = leadOf(T, T.relocations[Kind][I]))
        *(void **)(T.base + T.relocations[Kind][I].r_offset) = To;
  protect(*Info, PROT_READ);
  for (unsigned I = 0; I < Info->dlpi_phnum; ++I)
    if (const Elf64_Phdr &P = Info->dlpi_phdr[I];
        P.p_type == PT_LOAD && P.p_flags & PF_X && LibraryCount < LibrariesMax)
      Libraries[LibraryCount++] = {T.base, T.base + P.p_vaddr + P.p_memsz};
  return 0;
}

} // namespace

namespace sf {

void followLibraries() {
  dl_iterate_phdr(lead, nullptr);
  findStandardInputLeads();
  dl_iterate_phdr(leadVirtually, nullptr);
}

bool isLibraryCode(const void *Address) {
  for (unsigned I = 0; I < LibraryCount; ++I)
    if ((uint64_t)Address >= Libraries[I].begin && (uint64_t)Address < Libraries[I].end)
      return true;
  return false;
}

} // namespace sf
