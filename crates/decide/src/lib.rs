//! The only source of permits for doors: judge, record, answer.
