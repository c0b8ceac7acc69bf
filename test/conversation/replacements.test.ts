import t from 'tap'
import { Replacements } from '../../domain/conversation/speaking/replacements.ts'
import { processorMs } from '../processor-time.ts'
import { fc } from '../random.ts'

const replaced = (pairs: Record<string, string>, text: string) => new Replacements(pairs).in(text).text

t.test('replacements match whole words in any case', (t) => {
  const pairs = { SQL: 'sequel', 'dr.': 'Doctor', 'C++': 'C plus plus', Żółć: 'bile' }
  t.equal(replaced(pairs, 'Sql and sql, MySQL, SQLite.'), 'sequel and sequel, MySQL, SQLite.')
  t.equal(replaced(pairs, 'Dr. Who writes C++.'), 'Doctor Who writes C plus plus.')
  t.equal(replaced(pairs, 'żÓŁĆ żółćy'), 'bile żółćy')
  t.equal(replaced({ cafe: 'coffee' }, 'cafe\u0301 cafe'), 'cafe\u0301 coffee')
  t.equal(replaced({ a1: 'x' }, 'a1 a12 ba1 _a1'), 'x a12 ba1 _a1')
  t.end()
})

t.test('the longest match is replaced first, and the result is not searched again', (t) => {
  const pairs = { New: 'old', 'New York': 'NYC', NYC: 'wrong', a: 'b', b: 'a' }
  t.equal(replaced(pairs, 'New York is new'), 'NYC is old')
  t.equal(replaced(pairs, 'a b'), 'b a')
  t.end()
})

t.test('the value of a replacement is inserted literally', (t) => {
  t.equal(replaced({ x: '$& $1 \\' }, 'x'), '$& $1 \\')
  t.equal(replaced({ um: '' }, 'um, yes'), ', yes')
  t.equal(replaced({ constructor: 'c' }, 'constructor toString'), 'c toString')
  t.end()
})

t.test('replacements in scripts without spaces match inside a text', (t) => {
  t.equal(replaced({ 東京: 'とうきょう' }, '私は東京に住む'), '私はとうきょうに住む')
  t.end()
})

t.test('replacements are correct after letters such as İ with a longer lower case', (t) => {
  t.equal(replaced({ izmir: 'Smyrna', x: 'y' }, 'İİİ x İzmir izmir'), 'İİİ y İzmir Smyrna')
  t.end()
})

t.test('a text without replaced words is unchanged', (t) => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => replaced({}, text) === text))
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => replaced({ qqqqqqqq: 'z' }, text) === text))
  t.end()
})

t.test('replacements with a hostile dictionary or text take little time', (t) => {
  const pairs = Object.fromEntries(Array.from({ length: 127 }, (_, i) => [`${'.'.repeat(i + 1)}x`, 'y']))
  const replacements = new Replacements(pairs)
  const spent = processorMs(() => void replacements.in('.'.repeat(2000)))
  t.comment(`127 lengths of keys, 2,000 letters of text: ${spent.toFixed(1)} ms`)
  t.ok(spent < 500)
  t.end()
})
