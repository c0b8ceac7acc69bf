import t from 'tap'
import { FairQueue } from '../../runtime/shares/fair-queue.ts'

t.test('the queue serves organizations in turns, and the items of an organization keep their order', (t) => {
  const queue = new FairQueue<string>()
  for (const item of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) queue.add(item.charAt(0), item)
  t.equal(queue.size, 6)
  t.same([...queue.owners()], ['a', 'b', 'c'])
  const taken = Array.from({ length: 7 }, () => queue.take())
  t.same(taken, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3', undefined])
  t.equal(queue.size, 0)
  t.end()
})

t.test('an item can be deleted from the queue, and one organization can be served first', (t) => {
  const queue = new FairQueue<string>()
  for (const item of ['a1', 'a2', 'b1', 'b2']) queue.add(item.charAt(0), item)
  queue.delete('a', 'a1')
  queue.delete('a', 'a1')
  queue.delete('c', 'c1')
  t.same([...queue.items()], ['a2', 'b1', 'b2'])
  t.equal(queue.takeFrom('b'), 'b1')
  t.equal(queue.takeFrom('c'), undefined)
  t.equal(queue.has('a'), true)
  t.same([queue.take(), queue.take()], ['a2', 'b2'])
  t.equal(queue.has('a'), false)
  t.end()
})

t.test('the first item of an organization is served before a second item of a busy organization', (t) => {
  const queue = new FairQueue<string>()
  queue.countTurn('a')
  for (const item of ['a1', 'a2', 'a3', 'b1']) queue.add(item.charAt(0), item)
  t.equal(queue.take(), 'b1', 'organization a had its turn without waiting')
  t.equal(queue.take(), 'a1')
  queue.add('c', 'c1')
  queue.add('b', 'b2')
  t.same(
    Array.from({ length: 4 }, () => queue.take()),
    ['c1', 'b2', 'a2', 'a3'],
  )
  t.end()
})

t.test('two organizations that queue a new item after each served item do not starve a third organization', (t) => {
  const queue = new FairQueue<string>()
  for (const item of ['a', 'b', 'c']) queue.add(item, item)
  const taken: (string | undefined)[] = []
  for (let turn = 0; turn < 6; turn++) {
    const item = queue.take()
    taken.push(item)
    if (item !== undefined) queue.add(item, item)
  }
  t.same(taken, ['a', 'b', 'c', 'a', 'b', 'c'])
  t.end()
})
