// glibc 2.35 gave hypot a new version, which sets no errno. The old one does here too, and is all
// that would keep the module from a system with glibc 2.34. The linker turns calls of hypot into
// __wrap_hypot.
extern "C" {
double hypot_of_old(double x, double y);
double __wrap_hypot(double x, double y);
asm(".symver hypot_of_old, hypot@GLIBC_2.2.5");

double __wrap_hypot(double x, double y) { return hypot_of_old(x, y); }
}
