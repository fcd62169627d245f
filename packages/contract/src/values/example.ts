/** A JSON schema, or one of the schema library, which is the same. */
type Schema = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 4;

/**
 * A value that fits the schema, from its `examples` where it has them; `required_only` leaves out optional fields. `resolve`
 * returns the schema that a `$ref` refers to.
 */
export function exampleOf(
  given: object,
  required_only: boolean,
  resolve: (schema: Schema) => Schema = (schema) => schema,
  depth = 0,
): unknown {
  const schema = resolve(given as Schema);
  const inner = (field: unknown) => exampleOf(field ?? {}, required_only, resolve, depth + 1);
  const [example] = (schema.examples ?? []) as unknown[];
  if (example !== undefined) return example;
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const [branch] = (schema.anyOf ?? schema.oneOf ?? []) as Schema[];
  if (branch !== undefined) return exampleOf(branch, required_only, resolve, depth);
  switch ([schema.type].flat()[0]) {
    case 'object': {
      const required = (schema.required ?? []) as string[];
      const fields = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
      return Object.fromEntries(
        fields
          .filter(([name]) => !required_only || required.includes(name))
          .map(([name, field]) => [name, inner(field)]),
      );
    }
    case 'array':
      return depth > MAX_DEPTH ? [] : [inner(schema.items)];
    case 'integer':
    case 'number':
      return schema.minimum ?? 0;
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return 'string'.padEnd(Number(schema.minLength ?? 0), '.').slice(0, Number(schema.maxLength ?? 64));
  }
}
