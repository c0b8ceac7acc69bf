import { Menu, MenuButton, MenuItem, MenuProvider } from '@ariakit/react'
import { Check, ChevronsUpDown } from 'lucide-react'
import { useState } from 'react'
import { useSession } from '../data/session.ts'
import styles from './account-menu.module.css'
import { type Scheme, schemes, storedScheme, storeScheme } from './scheme.ts'

const names: Record<Scheme, string> = { system: 'Colours of the system', light: 'Light', dark: 'Dark' }

/** The organization, the colours, and the way out. */
export function AccountMenu() {
  const { organization } = useSession()
  const [scheme, setScheme] = useState(storedScheme)
  const choose = (wanted: Scheme) => {
    storeScheme(wanted)
    setScheme(wanted)
  }
  return (
    <MenuProvider placement="top-start">
      <MenuButton className={styles.button}>
        <span>{organization.name}</span>
        <ChevronsUpDown aria-hidden="true" />
      </MenuButton>
      <Menu className={styles.menu} gutter={6}>
        {schemes.map((each) => (
          <MenuItem key={each} className={styles.item} onClick={() => choose(each)} aria-current={each === scheme}>
            {names[each]}
            {each === scheme && <Check aria-hidden="true" />}
          </MenuItem>
        ))}
      </Menu>
    </MenuProvider>
  )
}
