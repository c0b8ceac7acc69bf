/** Rich-message fields at and beyond each limit, for both send operations. */
const tags = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 'v']))

export const goodFields: readonly object[] = [
  { text: 'x' },
  { text: '🚲'.repeat(18_996) },
  { tags: tags(20) },
  { tags: { ['k'.repeat(64)]: 'v'.repeat(256) } },
  { tags: { ä: '', A: '1', a: '2' } },
  { tags: {} },
]

/** Each of these fields alone makes a message invalid. */
export const badFields: readonly object[] = [
  { text: '' },
  { text: 'x'.repeat(18_997) },
  { text: '🚲'.repeat(18_997) },
  { text: 1 },
  { text: undefined },
  { tags: tags(21) },
  { tags: { ['k'.repeat(65)]: 'v' } },
  { tags: { k: 'v'.repeat(257) } },
  { tags: { '': 'v' } },
  { tags: { k: 1 } },
  { tags: [] },
  { to: '15005550030' },
  { to: '+0500555003' },
  { to: '+15550001111' },
  { to: undefined },
  { from: '+15005550100' },
]
