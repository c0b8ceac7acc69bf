import t from 'tap'
import { errorRate, wordErrors, words } from './words.ts'

t.test('the word error count ignores different spellings of the same spoken words', (t) => {
  t.same(
    words("That's 21 of 1,305: I can't press 0!"),
    words('that is twenty-one of one thousand three hundred five i can not press zero'),
  )
  t.same(words('3D'), ['three', 'd'])
  t.same(wordErrors('press one now', 'press won'), { errors: 2, words: 3 })
  t.same(wordErrors('', 'thank you'), { errors: 2, words: 0 })
  t.equal(
    errorRate([
      { errors: 1, words: 3 },
      { errors: 0, words: 7 },
    ]),
    0.1,
  )
  t.end()
})
