/** The value of a key in a map, which is made where there is none yet. */
export function valueIn<K, V>(
  map: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  make: () => V,
): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** Appends a value to the list of a key. */
export function pushTo<K, T>(lists: Map<K, T[]>, key: K, value: T): void {
  valueIn(lists, key, () => []).push(value);
}
