/** Tests what the console keeps when it reads conversations and their messages again. */
import t from 'tap'
import { type MessagePages, withLoaded } from '../../console/app/data/message-pages.ts'
import { inPlace } from '../../console/app/data/rows-in-place.ts'

/** Makes pages of messages, the newest first. A higher number is newer. */
function pagesOf(pages: number[][], nextCursor: string | null = 'next'): MessagePages {
  const messages = (numbers: number[]) => numbers.map((number) => ({ id: `m${number}` }))
  return {
    pages: pages.map((numbers) => ({ messages: messages(numbers), nextCursor })),
    pageParams: pages.map((_, at) => (at === 0 ? null : 'next')),
  } as unknown as MessagePages
}

const numbersIn = ({ pages }: MessagePages) =>
  pages.map(({ messages }) => messages.map(({ id }) => Number(id.slice(1))))

t.test('messages that new messages move out of the last page stay in the list', (t) => {
  t.same(numbersIn(withLoaded(undefined, pagesOf([[3, 2]]))), [[3, 2]])
  const once = withLoaded(pagesOf([[3, 2]]), pagesOf([[4, 3]]))
  t.same(numbersIn(once), [[4, 3, 2]])
  const twice = withLoaded(once, pagesOf([[5, 4]]))
  t.same(numbersIn(twice), [[5, 4, 3, 2]])
  const older = { ...twice, pages: [...twice.pages, ...pagesOf([[3, 2], [1]]).pages] }
  t.same(numbersIn(withLoaded(twice, older)), [[5, 4, 3, 2], [], [1]], 'the next page repeats no message')
  t.end()
})

t.test('after a gap, and if the conversation ends before, only the fresh messages stay', (t) => {
  t.same(numbersIn(withLoaded(pagesOf([[3, 2]]), pagesOf([[9, 8]]))), [[9, 8]], 'messages between them are missing')
  t.same(numbersIn(withLoaded(pagesOf([[3, 2]]), pagesOf([[4, 3]], null))), [[4, 3]], 'message 2 was deleted')
  t.end()
})

t.test('held rows change in place, and only older rows are added', (t) => {
  const row = (id: string, at: string) => ({ id, at })
  const timeOf = ({ at }: { at: string }) => at
  const shown = [row('a', '5'), row('b', '4'), row('c', '3')]
  const fresh = [row('new', '7'), row('c', '6'), row('a', '5'), row('old', '2')]
  t.same(inPlace(shown, fresh, timeOf), [row('a', '5'), row('b', '4'), row('c', '6'), row('old', '2')])
  t.end()
})
