/* app_method_default.h — gives every row macro of app_method.def that an expansion did not define an empty meaning.
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
