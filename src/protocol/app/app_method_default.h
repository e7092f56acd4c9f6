/* app_method_default.h — defines all row macros of app_method.def that an expansion did not define as empty.
 * No include guard: included before each expansion, with app_method_undef.h after it. */
#ifndef METHOD
#define METHOD(...)
#endif
#ifndef METHOD_LACKS
#define METHOD_LACKS(...)
#endif
#ifndef METHOD_REFUSES
#define METHOD_REFUSES(...)
#endif
#ifndef METHOD_ANSWERS
#define METHOD_ANSWERS(...)
#endif
