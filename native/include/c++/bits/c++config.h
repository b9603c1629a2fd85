// Found before libstdc++'s own: templates that the library offers ready-made,
// like the members of std::string and std::istream, are compiled with the
// program that uses them, because only what we compile has labels. No guard:
// what is behind has one, and it alone says whether this is its first time.
#include_next <bits/c++config.h>
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE 0
