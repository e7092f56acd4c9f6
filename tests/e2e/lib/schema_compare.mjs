// Compares two generations of the app-server's JSON Schema and lists missing, additional and different definitions.
// Types are compared by their form on the wire: a reference is resolved if only one side has a name, and the variants of a union
// are matched by their tag. Descriptions, formats and defaults are ignored.

const MESSAGES = ['ClientRequest', 'ClientNotification', 'ServerRequest', 'ServerNotification'];
const ANY = { kind: 'any' };

/** The definitions of codex_app_server_protocol.schemas.json by name; v2 beside the others. */
function flatten({ definitions: { v2, ...rest } }) {
	return { ...v2, ...rest };
}

const refName = (schema) => schema?.$ref?.split('/').at(-1);
const isNull = (schema) => schema.type === 'null';

/** { schema, nullable }: without wrappers of a single schema, and without null among the choices. */
function unwrap(schema) {
	if (schema === true) return { schema: true, nullable: false };
	if (Array.isArray(schema.type) && schema.type.includes('null')) {
		const others = schema.type.filter((type) => type !== 'null');
		return { schema: { ...schema, type: others.length === 1 ? others[0] : others }, nullable: true };
	}
	const choices = schema.anyOf ?? schema.allOf;
	if (choices && !schema.properties) {
		const others = choices.filter((choice) => !isNull(choice));
		if (others.length === 1) return { schema: others[0], nullable: others.length < choices.length };
	}
	return { schema, nullable: false };
}

/** The normal form of a schema: { kind, name?, item?, words?, fields?, variants? } */
class Reading {
	constructor(document) {
		this.types = flatten(document);
	}

	/** Named ones keep their name; `shape` looks inside. */
	value(raw) {
		const { schema, nullable } = unwrap(raw);
		const name = refName(schema);
		if (!name) return { ...this.shape(schema), nullable };
		const inner = this.shape(this.types[name], name);
		return { ...inner, nullable: nullable || inner.nullable, name };
	}

	shape(raw) {
		const { schema, nullable } = unwrap(raw);
		if (refName(schema)) return this.value(schema);
		return { ...this.plain(schema), nullable };
	}

	plain(schema) {
		if (schema === true) return ANY;
		if (schema.oneOf || (schema.anyOf && !schema.properties)) return this.union(schema);
		if (schema.enum) return { kind: 'words', words: schema.enum };
		if (schema.type === 'array') return { kind: 'list', item: schema.items ?? true };
		if (schema.type === 'object' || schema.properties) return this.object(schema);
		if (typeof schema.type === 'string') return { kind: schema.type };
		return ANY;
	}

	object(schema) {
		const more = schema.additionalProperties;
		if (!schema.properties && more && more !== true) return { kind: 'map', item: more };
		if (!schema.properties && more) return { kind: 'open' };
		const required = new Set(schema.required ?? []);
		let choices = (schema.anyOf ?? schema.oneOf ?? []).flatMap((choice) => Object.entries(choice.properties ?? {}));
		choices = choices.map(([key, value]) => [key, { schema: value, required: false }]);
		const own = Object.entries(schema.properties ?? {})
			.map(([key, value]) => [key, { schema: value, required: required.has(key) }]);
		return { kind: 'record', fields: Object.fromEntries([...choices, ...own]) };
	}

	/** Strings alone are an enum; otherwise variants by tag. Members beside the choices belong to each variant. */
	union({ oneOf, anyOf, properties: shared, required = [] }) {
		const variants = {};
		for (const raw of (oneOf ?? anyOf).map((choice) => this.types[refName(choice)] ?? choice)) {
			if (Array.isArray(raw.type)) continue; // placeholder for later versions
			const choice = shared
				? { ...raw, properties: { ...shared, ...raw.properties }, required: [...required, ...(raw.required ?? [])] }
				: raw;
			if (choice.enum && !choice.properties) {
				for (const word of choice.enum) variants[word] = null;
				continue;
			}
			const fields = choice.properties ?? {};
			const [key, tag] = Object.entries(fields).find(([, field]) => field.enum?.length === 1) ?? [];
			if (tag) variants[tag.enum[0]] = { tag: key, schema: choice };
			else if (Object.keys(fields).length === 1) variants[Object.keys(fields)[0]] = { schema: Object.values(fields)[0] };
			else return { kind: 'choice' };
		}
		if (Object.values(variants).every((variant) => variant === null))
			return { kind: 'words', words: Object.keys(variants) };
		return { kind: 'union', variants };
	}

	messages(name) {
		return Object.fromEntries(this.types[name].oneOf.map(({ properties }) =>
			[properties.method.enum[0], this.value(properties.params ?? { type: 'null' })]));
	}
}

const asUnion = ({ words }) => ({ kind: 'union', variants: Object.fromEntries(words.map((word) => [word, null])) });

const LOOSE = new Set(['any', 'open', 'choice']);

export class Comparison {
	/** Lines such as "ThreadStartParams.cwd". */
	missing = { messages: [], types: [], fields: [], words: [] };
	more = { messages: [], types: [], fields: [], words: [] };
	contradictions = [];
	open = []; // types that our schema leaves open
	loose = []; // fields that our schema specifies less
	same = { messages: 0, types: 0, fields: 0 };

	constructor(ours, theirs) {
		this.ours = new Reading(ours);
		this.theirs = new Reading(theirs);
		for (const name of MESSAGES) this.messages(name);
		this.allTypes();
	}

	messages(name) {
		const [ours, theirs] = [this.ours.messages(name), this.theirs.messages(name)];
		for (const method of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
			if (!theirs[method]) this.more.messages.push(method);
			else if (!ours[method]) this.missing.messages.push(method);
			else {
				this.same.messages++;
				this.meaning(`${name} ${method}`, ours[method], theirs[method]);
			}
		}
	}

	allTypes() {
		const skip = (name) => MESSAGES.includes(name);
		for (const name of new Set([...Object.keys(this.ours.types), ...Object.keys(this.theirs.types)])) {
			if (skip(name)) continue;
			if (!this.theirs.types[name]) this.more.types.push(name);
			else if (!this.ours.types[name]) this.missing.types.push(name);
			else this.type(name);
		}
	}

	type(name) {
		const [ours, theirs] = [this.ours.shape(this.ours.types[name]), this.theirs.shape(this.theirs.types[name])];
		if (ours.kind === 'open' && theirs.kind !== 'open') this.open.push(name);
		else {
			this.same.types++;
			this.inside(name, ours, theirs);
		}
	}

	/** Compares two values: nullability, names, then structure. */
	meaning(where, ours, theirs) {
		if (LOOSE.has(ours.kind) && !ours.name) {
			if (!LOOSE.has(theirs.kind)) this.loose.push(where);
			return;
		}
		if (theirs.kind === 'any') {
			if (ours.kind !== 'any') this.contradictions.push(`${where}: ours is ${ours.kind}, theirs anything`);
			return;
		}
		if (!!ours.nullable !== !!theirs.nullable)
			this.contradictions.push(`${where}: null is ${ours.nullable ? 'more' : 'missing'}`);
		const compound = (value) => ['record', 'open', 'union'].includes(value.kind);
		if (ours.name && theirs.name && ours.name !== theirs.name && (compound(ours) || compound(theirs)))
			this.contradictions.push(`${where}: ours is called ${ours.name}, theirs ${theirs.name}`);
		else if (ours.name && ours.name === theirs.name) return; // compared as a type of its own
		else this.inside(where, ours, theirs);
	}

	inside(where, ours, theirs) {
		if (ours.kind === 'string' && theirs.kind === 'words') this.loose.push(where);
		else if (theirs.kind === 'choice' || (LOOSE.has(ours.kind) && !LOOSE.has(theirs.kind))) this.loose.push(where);
		else if (ours.kind === 'words' && theirs.kind === 'union') this.union(where, asUnion(ours), theirs);
		else if (ours.kind !== theirs.kind) this.contradictions.push(`${where}: ours is ${ours.kind}, theirs ${theirs.kind}`);
		else this[ours.kind]?.(where, ours, theirs);
	}

	words(where, ours, theirs) {
		for (const word of theirs.words) if (!ours.words.includes(word)) this.missing.words.push(`${where} "${word}"`);
		for (const word of ours.words) if (!theirs.words.includes(word)) this.more.words.push(`${where} "${word}"`);
	}

	list(where, ours, theirs) {
		this.meaning(`${where}[]`, this.ours.value(ours.item), this.theirs.value(theirs.item));
	}

	map(where, ours, theirs) {
		this.list(where, ours, theirs);
	}

	record(where, ours, theirs, tag) {
		for (const [key, field] of Object.entries(theirs.fields)) {
			if (key === tag) continue;
			const own = ours.fields[key];
			if (!own) {
				this.missing.fields.push(`${where}.${key}`);
				continue;
			}
			this.same.fields++;
			if (own.required !== field.required)
				this.contradictions.push(`${where}.${key}: is ${field.required ? 'required' : 'optional'} in theirs`);
			this.meaning(`${where}.${key}`, this.ours.value(own.schema), this.theirs.value(field.schema));
		}
		for (const key of Object.keys(ours.fields))
			if (key !== tag && !theirs.fields[key]) this.more.fields.push(`${where}.${key}`);
	}

	union(where, ours, theirs) {
		for (const [word, body] of Object.entries(theirs.variants)) {
			const own = ours.variants[word];
			if (own === undefined) this.missing.words.push(`${where} "${word}"`);
			else this.variant(`${where}:${word}`, own, body);
		}
		for (const word of Object.keys(ours.variants))
			if (!(word in theirs.variants)) this.more.words.push(`${where} "${word}"`);
	}

	variant(where, ours, theirs) {
		if (!ours || !theirs) {
			if (ours || theirs) this.contradictions.push(`${where}: only ${ours ? 'ours' : 'theirs'} has a body`);
			return;
		}
		if (ours.tag !== theirs.tag) {
			this.contradictions.push(`${where}: told apart by ${ours.tag} in ours, by ${theirs.tag} in theirs`);
			return;
		}
		if (ours.tag) this.record(where, this.ours.object(ours.schema), this.theirs.object(theirs.schema), ours.tag);
		else this.meaning(where, this.ours.value(ours.schema), this.theirs.value(theirs.schema));
	}
}
