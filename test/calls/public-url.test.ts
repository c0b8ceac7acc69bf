/**
 * The host in links comes from the setting for the public URL or from the request. Proxy headers count only from
 * trusted proxies.
 */
import t from 'tap'
import { createNodeUrl, createPublicUrl } from '../../handlers/public-url.ts'

const request = {
  address: '10.0.0.1',
  source: '10.0.0.1',
  userAgent: '',
  usesCookie: false,
  host: 'voice.example:8080',
  origin: '',
  isForwarded: true,
  forwardedHost: 'public.example',
  forwardedProto: 'https',
}
const settings = { publicUrl: null, host: '::1', port: 8080, trustedProxies: [] }

t.test('createPublicUrl returns the URL at which outside clients reach the server', (t) => {
  t.equal(createPublicUrl({ ...settings, publicUrl: 'https://a.example/base//' })(request), 'https://a.example/base')
  const plain = createPublicUrl(settings)
  t.equal(plain(request), 'http://voice.example:8080', 'nobody is trusted')
  for (const host of ['', 'voice.example:99999', 'a%b', '[::zz]', '999.1.1.1', 'a,b'])
    t.equal(plain({ ...request, host }), 'http://[::1]:8080', `${host} is no host`)
  for (const host of ['[::1]:80', 'Voice.example', '10.0.0.1:1']) t.equal(plain({ ...request, host }), `http://${host}`)
  const behind = createPublicUrl({ ...settings, trustedProxies: ['10.0.0.0/8'] })
  t.equal(behind(request), 'https://public.example')
  t.equal(behind({ ...request, address: '192.0.2.1' }), 'http://voice.example:8080')
  t.equal(behind({ ...request, forwardedHost: 'evil.example, public.example' }), 'https://public.example')
  t.equal(behind({ ...request, forwardedHost: 'a b/c', forwardedProto: 'gopher' }), 'http://voice.example:8080')
  const node = createNodeUrl({ ...settings, publicUrl: 'https://a.example', nodeUrl: 'https://node-1.a.example/' })
  t.equal(node(request), 'https://node-1.a.example')
  t.equal(createNodeUrl({ ...settings, publicUrl: 'https://a.example', nodeUrl: null })(request), 'https://a.example')
  t.end()
})
