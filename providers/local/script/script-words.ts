/** Compares sentences by their words, for the scripted model's rules. Only English words are reduced to stems. */

/** Words ignored in comparisons, because they do not describe a sentence's subject. */
const empty = new Set(
  (
    'a an the this that these those it its i me my we us our you your yours he she they them their his her is are was were be been am ' +
    'do does did done can could will would shall should may might must have has had to of in on at for from with by about as and or but if ' +
    'so then than there here what which who how when please tell say know want like need get give any some also just very not no yes ' +
    'im id ill its dont hello hi hey okay ok well now let lets up go going one thing something anything more'
  ).split(' '),
)

/** Words treated as equal: question words together with the usual words in their answers. */
const alike: Readonly<Record<string, string>> = Object.fromEntries(
  [
    'open opened opening close closed closing hour schedule',
    'price cost much fee charge expensive cheap pay',
    'where address location located situated find street',
    'phone telephone call number reach contact',
    'mail email',
    'book booking reserve reservation',
    'name called',
  ].flatMap((group) => group.split(' ').map((word) => [word, group.split(' ')[0] as string])),
)

export function plainWords(text: string): string[] {
  return (
    text
      .toLowerCase()
      .replaceAll(/['’]/g, '')
      .match(/[\p{L}\p{N}]+/gu) ?? []
  )
}

/** Returns the stems for the words about the sentence's subject, each stem once. */
export function subjects(text: string): Set<string> {
  return new Set(
    plainWords(text)
      .filter((word) => !empty.has(word) || word === 'where')
      .map(stemOf),
  )
}

export function stemOf(word: string): string {
  const synonym = alike[word]
  if (synonym) return synonym
  const stem = withoutEnding(word)
  return alike[stem] ?? stem.replace(/[ey]$/, '')
}

/**
 * Returns the word without its ending, so "hours" equals "hour". Unlike `stemOf`, does not treat "open" and "closed" as
 * equal.
 */
export function plainStemOf(word: string): string {
  return withoutEnding(word).replace(/[ey]$/, '')
}

function withoutEnding(word: string): string {
  return word.length > 4 ? word.replace(/(?:ies|es|s)$/, '').replace(/(?:ing|ed)$/, '') : word.replace(/s$/, '')
}

/** Counts the words in both sets. */
export function common(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let count = 0
  for (const word of a) if (b.has(word)) count++
  return count
}
