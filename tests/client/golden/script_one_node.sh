#!/bin/bash
#SBATCH --account=lab
#SBATCH --cpus-per-task=32
#SBATCH --gres=gpu:gpu4090:4
#SBATCH --job-name=gr00t-finetune
#SBATCH --mem=80G
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --output=gr00t-finetune-%j.out
#SBATCH --partition=gpu_shared
#SBATCH --qos=normal
#SBATCH --time=13:00:00

set -e -o pipefail
export GPUADVISE_ADVICE=a-17
export GPUADVISE_GPU=rtx4090
export GPUADVISE_GPUS_PER_NODE=4
export GPUADVISE_NODES=1
export GPUADVISE_MICRO_BATCH=10
export GPUADVISE_ACCUMULATION=3
export GPUADVISE_EFFECTIVE_BATCH_SIZE=120
export GPUADVISE_PRECISION=bf16
export GPUADVISE_OUTPUT_DIR="/scratch/$USER/gr00t"
mkdir -p "$GPUADVISE_OUTPUT_DIR"
GPUADVISE_OUTPUT_DIR=$(cd "$GPUADVISE_OUTPUT_DIR" && pwd)
export GPUADVISE_OUTPUT=$GPUADVISE_OUTPUT_DIR
set -a  # the command runs in a shell of its own
module load cuda/12.4
source ~/venvs/gr00t/bin/activate
set +a
command='torchrun --nproc_per_node=4 scripts/gr00t_finetune.py --dataset-path /scratch/$USER/datasets/demo --output-dir "$GPUADVISE_OUTPUT_DIR" --max-steps 10000 --save-steps 2000 --batch-size 10 --gradient-accumulation-steps 3'
run=(gpuadvise run --)
if ! command -v gpuadvise > /dev/null; then  # not on this node: unwatched
  run=()
fi
"${run[@]}" bash -e -o pipefail -c "$command"
