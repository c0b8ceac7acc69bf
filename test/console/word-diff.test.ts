/** Compares the console's differences between words with the differences in `parley replay`. */
import t from 'tap'
import { wordDifferences } from '../../cli/word-differences.ts'
import { wordDiff } from '../../console/app/parts/word-diff.ts'
import { random as seeded } from '../random.ts'

t.test('wordDiff marks phrases, and counts neither case nor punctuation', (t) => {
  const { parts, errors, count } = wordDiff('Please, call me back at NINE.', 'please call Nora back nine today!')
  t.same(parts, [
    { kind: 'same', text: 'please call' },
    { kind: 'removed', text: 'me' },
    { kind: 'added', text: 'Nora' },
    { kind: 'same', text: 'back' },
    { kind: 'removed', text: 'at' },
    { kind: 'same', text: 'nine' },
    { kind: 'added', text: 'today!' },
  ])
  t.same({ errors, count }, { errors: 3, count: 6 })
  t.same(wordDiff('', ''), { parts: [], errors: 0, count: 0 })
  t.same(wordDiff('Hello', ''), { parts: [{ kind: 'removed', text: 'Hello' }], errors: 1, count: 1 })
  t.end()
})

t.test('wordDiff counts as `parley replay` counts', (t) => {
  const random = seeded(7)
  const text = () => Array.from({ length: Math.floor(random() * 9) }, () => 'abcd'[Math.floor(random() * 4)]).join(' ')
  for (let each = 0; each < 500; each++) {
    const [before, after] = [text(), text()]
    const { errors, words: count } = wordDifferences(before, after)
    const made = wordDiff(before, after)
    if (made.errors !== errors || made.count !== count) t.fail(`${before} | ${after}`)
    const kept = (kind: string) =>
      made.parts
        .filter((part) => part.kind !== kind)
        .map((part) => part.text)
        .join(' ')
    if (kept('added') !== before || kept('removed') !== after) t.fail(`${before} | ${after} loses words`)
  }
  t.pass()
  t.end()
})
