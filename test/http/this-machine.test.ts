/** Tests which addresses, hosts and origins count as this machine or as the server itself. */
import t from 'tap'
import { isOwnOrigin } from '../../handlers/authenticate.ts'
import { isLoopbackAddress, isLoopbackAuthority, isLoopbackHost } from '../../runtime/engine/host.ts'

t.test('loopback addresses, hosts and same origins are recognized', (t) => {
  const loopback = ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1', '0000:0000:0000:0000:0000:0000:0000:0001']
  for (const address of [...loopback, '0000:0000:0000:0000:0000:ffff:7f00:0001'])
    t.ok(isLoopbackAddress(address), address)
  for (const address of ['', '10.0.0.1', '1127.0.0.1', '::', '::ffff:10.0.0.1', '::1:1', '2001:db8::1'])
    t.notOk(isLoopbackAddress(address), address)
  for (const host of ['localhost', 'LOCALHOST:1', '127.0.0.1:8080', '[::1]:8080']) t.ok(isLoopbackAuthority(host), host)
  for (const host of [
    '',
    'localhost.evil.example',
    '127.evil.example',
    'evil.example',
    '10.0.0.1',
    '127.0.0.1:8080@evil',
  ])
    t.notOk(isLoopbackAuthority(host), host)
  for (const host of ['localhost', '127.0.0.1', '::1']) t.ok(isLoopbackHost(host), host)
  for (const host of ['127.evil.example', '0.0.0.0', '']) t.notOk(isLoopbackHost(host), host)
  t.ok(isOwnOrigin('http://a:1', 'a:1'))
  t.notOk(isOwnOrigin('http://', ''))
  t.notOk(isOwnOrigin('http://a', 'a:1'))
  t.end()
})
