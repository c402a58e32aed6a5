import { render } from 'preact';
import './style/tokens.css';
import './style/base.css';
import './style/parts.css';
import './style/views.css';
import './style/charts.css';
import './style/pictures.css';
import 'uplot/dist/uPlot.min.css';
import { App } from './app';
import { applyTheme } from './parts/theme';

applyTheme();
const place = document.getElementById('page');
if (place) render(<App />, place);
