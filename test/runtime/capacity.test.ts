import t from 'tap'
import { Capacity } from '../../runtime/shares/capacity.ts'
import { Owners } from '../../runtime/shares/owners.ts'

const several = () => new Owners(true)

function takeAll(capacity: Capacity, owner: string, giveBack?: () => void): number {
  let taken = 0
  while (capacity.take(owner, 1, giveBack)) taken++
  return taken
}

t.test('a single organization may use the whole capacity', (t) => {
  const owners = new Owners()
  owners.see('a')
  owners.see('a')
  t.equal(takeAll(new Capacity({ max: 8, part: 0.25 }, owners), 'a'), 8)
  t.end()
})

t.test('a busy organization leaves one share of the capacity to the others', (t) => {
  const capacity = new Capacity({ max: 8, part: 0.25 }, several())
  t.equal(takeAll(capacity, 'a'), 6)
  t.equal(takeAll(capacity, 'b'), 2)
  t.equal(capacity.used, 8)
  t.end()
})

t.test("once a second organization exists, the first may no longer use the second's share of the capacity", (t) => {
  const owners = new Owners()
  const capacity = new Capacity({ max: 4, part: 0.25 }, owners)
  owners.see('a')
  capacity.take('a', 2)
  owners.see('b')
  t.ok(capacity.take('a'))
  t.equal(capacity.take('a'), null)
  t.ok(capacity.take('b'))
  t.end()
})

t.test('an organization below its share gets the oldest loan of the organization that uses most', (t) => {
  const capacity = new Capacity({ max: 4, part: 0.25 }, new Owners())
  const givenBack: number[] = []
  for (const place of [1, 2, 3, 4]) capacity.take('a', 1, () => givenBack.push(place))
  t.ok(capacity.take('b'))
  t.same(givenBack, [2], 'the first place is the share of a')
  t.equal(capacity.take('b'), null, 'b has its share')
  t.equal(capacity.used, 4)
  t.end()
})

t.test("capacity beyond an organization's share stays with the organization if it cannot be taken back", (t) => {
  const capacity = new Capacity({ max: 2, part: 0.25 }, new Owners())
  takeAll(capacity, 'a')
  t.equal(capacity.take('b'), null)
  t.end()
})

t.test('if a use of the capacity is ended twice, its units are released once', (t) => {
  const capacity = new Capacity({ max: 2, part: 0.5 }, several())
  const place = capacity.take('a')
  capacity.take('b')
  place?.end()
  place?.end()
  t.equal(capacity.used, 1)
  t.equal(place?.add(1), false, 'an ended place takes no units')
  t.ok(capacity.take('a'))
  t.end()
})

t.test("an organization's use of the capacity can grow until only the others' share is left", (t) => {
  const capacity = new Capacity({ max: 100, part: 0.25 }, several())
  const body = capacity.take('a', 20)
  t.equal(body?.add(40), true)
  t.equal(body?.add(20), false, 'a loan must leave 25 bytes')
  t.equal(body?.units, 60)
  t.ok(capacity.take('b', 25))
  t.end()
})

t.test("an organization's share of the capacity is at least one unit", (t) => {
  const capacity = new Capacity({ max: 2, part: 0.01 }, several())
  t.ok(capacity.take('a'))
  t.equal(capacity.take('a'), null)
  t.ok(capacity.take('b'))
  t.end()
})

t.test('capacity that an organization offers to give back goes at once to an organization that needs it', (t) => {
  const capacity = new Capacity({ max: 4, part: 0.25 }, new Owners())
  const places = [1, 2, 3, 4].map(() => capacity.take('a'))
  t.equal(capacity.take('b'), null)
  let givenBack = 0
  places[1]?.offer(() => givenBack++)
  t.ok(capacity.take('b'))
  t.equal(givenBack, 1)
  t.equal(capacity.take('c'), null)
  t.end()
})

t.test('an organization that may not borrow gets no more than its share of the capacity', (t) => {
  const capacity = new Capacity({ max: 8, part: 0.25, lends: (owner) => owner === 'a' }, several())
  t.equal(takeAll(capacity, 'b'), 2)
  t.notOk(capacity.admits('b', 1))
  t.equal(takeAll(capacity, 'a'), 4)
  t.end()
})
