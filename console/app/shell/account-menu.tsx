import { Menu, MenuButton, MenuGroup, MenuGroupLabel, MenuItem, MenuProvider, MenuSeparator } from '@ariakit/react'
import { useNavigate } from '@tanstack/react-router'
import { Check, ChevronsUpDown } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useChooseOrganization, useSession, useSignOut } from '../data/session.ts'
import styles from './account-menu.module.css'
import { type Scheme, schemes, storedScheme, storeScheme } from './scheme.ts'

/** Changes the organization and the colours, and signs the person out. */
export function AccountMenu() {
  const { user, organization, role } = useSession()
  return (
    <MenuProvider placement="top-start">
      <MenuButton className={styles.button}>
        <span>
          <b>{organization.name}</b>
          <small>{`${user.name ?? user.email}, ${role}`}</small>
        </span>
        <ChevronsUpDown aria-hidden="true" />
      </MenuButton>
      <Menu className={styles.menu} gutter={6}>
        <OwnPage />
        <Organizations />
        <Colours />
        <WaysOut />
      </Menu>
    </MenuProvider>
  )
}

function OwnPage() {
  const navigate = useNavigate()
  return (
    <>
      <Item onClick={() => void navigate({ to: '/account' })}>Your account</Item>
      <MenuSeparator className={styles.separator} />
    </>
  )
}

/** Shows nothing if the person has only one organization. */
function Organizations() {
  const { organization, organizations } = useSession()
  const choose = useChooseOrganization()
  const navigate = useNavigate()
  if (organizations.length < 2) return null
  const show = () => void navigate({ to: '/' })
  return (
    <MenuGroup>
      <MenuGroupLabel className={styles.label}>Organization</MenuGroupLabel>
      {organizations.map(({ id, name }) => (
        <Item key={id} isChosen={id === organization.id} onClick={() => choose.mutate(id, { onSuccess: show })}>
          {name}
        </Item>
      ))}
      <MenuSeparator className={styles.separator} />
    </MenuGroup>
  )
}

const names: Record<Scheme, string> = { system: 'As the system', light: 'Light', dark: 'Dark' }

function Colours() {
  const [chosen, setChosen] = useState(storedScheme)
  const choose = (scheme: Scheme) => {
    storeScheme(scheme)
    setChosen(scheme)
  }
  return (
    <MenuGroup>
      <MenuGroupLabel className={styles.label}>Colours</MenuGroupLabel>
      {schemes.map((scheme) => (
        <Item key={scheme} isChosen={scheme === chosen} onClick={() => choose(scheme)}>
          {names[scheme]}
        </Item>
      ))}
    </MenuGroup>
  )
}

function WaysOut() {
  const signOut = useSignOut()
  return (
    <>
      <MenuSeparator className={styles.separator} />
      <Item onClick={() => signOut.mutate(false)}>Sign out</Item>
      <Item onClick={() => signOut.mutate(true)}>Sign out everywhere</Item>
    </>
  )
}

function Item({
  isChosen = false,
  onClick,
  children,
}: {
  isChosen?: boolean
  onClick: () => void
  children: ReactNode
}) {
  return (
    <MenuItem className={styles.item} onClick={onClick} aria-current={isChosen}>
      {children}
      {isChosen && <Check aria-hidden="true" />}
    </MenuItem>
  )
}
