import { Page } from '../../components/Page.tsx';

export default function Overview() {
  return <Page title="Overview">{null}</Page>;
}
