#!/bin/bash
# A job script as people have them. Ask when it would start, or turn it into a train.yaml:
#
#   gpuadvise when examples/job.sh
#   gpuadvise init --from examples/job.sh my-train.yaml
#SBATCH --job-name=vit-finetune
#SBATCH --nodes=1
#SBATCH --gres=gpu:gpu4090:4
#SBATCH --cpus-per-task=32
#SBATCH --mem=80G
#SBATCH --time=12:00:00
#SBATCH --output=vit-%j.out
#SBATCH --mail-type=END

set -e
module load cuda/12.4
source ~/venvs/vit/bin/activate
export HF_HOME=/scratch/$USER/huggingface
cd ~/vit

echo "starting on $(hostname)"
torchrun --nproc_per_node=4 finetune.py \
  --model_name_or_path google/vit-large-patch16-224 \
  --output_dir /scratch/$USER/vit \
  --max_steps 20000 \
  --per_device_train_batch_size 16 \
  --gradient_accumulation_steps 2 \
  --bf16 True \
  --save_steps 2000 \
  --save_total_limit 5
