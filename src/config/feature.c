/* Two tables, because only the features of this program are fields of the configuration. */
#include "config/feature.h"

#include "config/config_record.h"

enum effect { EFFECT_stable, EFFECT_experimental, EFFECT_inert };

#define ABOUT_stable(doc) NULL
#define ABOUT_inert(doc) NULL
#define ABOUT_experimental(doc) doc

static const struct own {
	const char *name, *about;
	size_t offset; /* of the flag in struct config_features */
	enum effect effect;
	bool is_on; /* by default */
} own[] = {
#define FEATURE(key, is_on, effect, doc) \
	{#key, ABOUT_##effect(doc), offsetof(struct config_features, key), EFFECT_##effect, is_on},
#include "config/feature.def"
#undef FEATURE
};

enum stage { STAGE_stable, STAGE_experimental, STAGE_under_development, STAGE_deprecated, STAGE_removed };

static const char *const stage_names[] = {
	[STAGE_stable] = "stable",
	[STAGE_experimental] = "experimental",
	[STAGE_under_development] = "under development",
	[STAGE_deprecated] = "deprecated",
	[STAGE_removed] = "removed",
};

static const struct staged {
	const char *name;
	enum stage stage;
} staged[] = {
#define STAGE(name, stage) {name, STAGE_##stage},
#include "config/feature_stage.def"
#undef STAGE
};

static const struct own *find_own(struct str name)
{
	for (size_t i = 0; i < countof(own); i++) {
		if (str_is(name, own[i].name))
			return &own[i];
	}
	return NULL;
}

static const struct staged *find_staged(struct str name)
{
	for (size_t i = 0; i < countof(staged); i++) {
		if (str_is(name, staged[i].name))
			return &staged[i];
	}
	return NULL;
}

/* The own features that codex 0.169 lacks follow its features. */
const char *feature_name_at(size_t index)
{
	if (index < countof(staged))
		return staged[index].name;
	size_t rest = index - countof(staged);
	for (size_t i = 0; i < countof(own); i++) {
		if (!find_staged(str_of(own[i].name)) && rest-- == 0)
			return own[i].name;
	}
	return NULL;
}

bool feature_is_known(struct str name)
{
	return find_staged(name) || find_own(name);
}

const char *feature_stage(struct str name)
{
	const struct staged *known = find_staged(name);
	if (known)
		return stage_names[known->stage];
	const struct own *row = find_own(name);
	return stage_names[row && row->effect == EFFECT_experimental ? STAGE_experimental : STAGE_stable];
}

const char *feature_about(struct str name)
{
	const struct own *row = find_own(name);
	return row ? row->about : NULL;
}

bool feature_is_on(const struct config *config, struct str name)
{
	const struct own *row = find_own(name);
	return row && row->effect != EFFECT_inert && *(const bool *)((const char *)&config->features + row->offset);
}

bool feature_is_idle(struct str name, bool value)
{
	const struct own *row = find_own(name);
	return row ? row->effect == EFFECT_inert && value != row->is_on : find_staged(name) && value;
}
