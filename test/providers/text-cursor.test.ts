/** Tests how words that a vendor reports are found in the sent text. */
import t from 'tap'
import { TextCursor } from '../../providers/wire/text-cursor.ts'

function foundIn(text: string, pieces: readonly string[]): (string | null)[] {
  const cursor = new TextCursor(text)
  return pieces.map((piece) => {
    const place = cursor.behind(piece)
    return place === null ? null : text.slice(0, place)
  })
}

t.test('words are found in the text even if a vendor changes punctuation, spaces and case', (t) => {
  t.same(foundIn('Say “20 %”, now!', ['say', '20', '%', 'now']), ['Say', 'Say “20', 'Say “20 %', 'Say “20 %”, now'])
  t.same(foundIn("It's 4.50", ["It's", '$', '4.50']), ["It's", "It's ", "It's 4.50"])
  t.same(foundIn('你好，世界', ['你', '好', '世界']), ['你', '你好', '你好，世界'])
  t.same(foundIn('Hi 👋 𝒜b', ['Hi', '𝒜', 'b', ' ']), ['Hi', 'Hi 👋 𝒜', 'Hi 👋 𝒜b', 'Hi 👋 𝒜b'])
  t.end()
})

t.test('no position is reported after a word that is not in the text', (t) => {
  t.same(foundIn('3 rooms for three', ['three', 'rooms', 'for', 'three']), [null, null, null, null])
  t.same(foundIn('one two', ['one', 'two', 'three', 'two']), ['one', 'one two', null, null])
  t.same(foundIn('', ['a']), [null])
  t.end()
})
